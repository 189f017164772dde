"""The main job on a fresh checkout, and what its user does next."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import requests
from e2e.main_job import Installed, outer_environ, run

from ascendenv.resolve.lock import read_packages
from ascendenv.resolve.model import Target

PROGRAMS = Path(__file__).parent / "programs"


def test_install_verified_every_layer(installed: Installed) -> None:
    verification = installed.result["verification"]
    assert isinstance(verification, dict)
    outcomes = {check["id"]: check["outcome"] for check in verification["checks"]}
    assert {check["layer"] for check in verification["checks"]} >= {
        "probe",
        "import",
        "tensor",
        "memory",
        "hccl",
    }
    assert set(outcomes.values()) == {"passed"}, outcomes
    assert verification["device"]["simulated"] is True
    assert verification["device"]["count"] == 2


def test_second_install_does_nothing(installed: Installed) -> None:
    before = (installed.path / "ascendenv" / "state.json").stat().st_mtime_ns
    answer = json.loads(installed.cli("install", "--simulate", "--format", "json").stdout)["result"]
    assert answer["changed"] is False
    assert answer["environment"] == str(installed.path)
    assert (installed.path / "ascendenv" / "state.json").stat().st_mtime_ns == before


def test_second_install_needs_no_network(installed: Installed, tmp_path: Path) -> None:
    offline = ("install", "--simulate", "--offline", "--torch")
    # Nor what the indexes have answered before.
    empty = str(tmp_path)
    done = installed.cli(*offline, "2.13.0", "--format", "json", ASCENDENV_CACHE_DIR=empty)
    answer = json.loads(done.stdout)
    assert answer["result"]["changed"] is False
    assert answer["result"]["environment"] == str(installed.path)
    assert "nothing newer could be looked for" in answer["messages"][0]["text"]
    # Another version than the installed one cannot be had without a network.
    other = installed.cli(*offline, "2.12.0", check=False, ASCENDENV_CACHE_DIR=empty)
    assert other.returncode == 6


def test_run_prints_a_tensor_on_the_device(installed: Installed) -> None:
    program = "import torch, torch_npu; print(torch.randn(2,2).npu())"
    assert "device='npu:0'" in installed.cli("run", "--", "python", "-c", program).stdout


def test_run_passes_the_exit_code_on(installed: Installed) -> None:
    assert installed.cli("run", "--", "python", "-c", "raise SystemExit(42)", check=False).returncode == 42


def test_verify_again(installed: Installed) -> None:
    answer = json.loads(installed.cli("verify", "-k", "probe or import", "--format", "json").stdout)
    assert answer["ok"] is True
    passed = [check["id"] for check in answer["result"]["checks"] if check["outcome"] == "passed"]
    assert len(passed) > 3


def test_list_shows_the_environment(installed: Installed) -> None:
    (entry,) = json.loads(installed.cli("list", "--format", "json").stdout)["result"]["environments"]
    assert entry["path"] == str(installed.path)
    assert entry["simulated"] is True
    assert entry["verified"] is True


def test_reports_say_simulated_first(installed: Installed) -> None:
    text = installed.cli("install", "--simulate", "--quiet").stdout
    assert text.splitlines()[0].startswith("SIMULATED")


def test_doctor_says_what_a_real_npu_lacks(installed: Installed) -> None:
    done = installed.cli("doctor", "--format", "json", check=False)
    findings = {f["id"]: f["severity"] for f in json.loads(done.stdout)["result"]["findings"]}
    has_npu = Path("/dev/davinci_manager").exists()
    if not has_npu:
        assert done.returncode == 1
        assert findings["npu.present"] == "error"


def test_plan_for_another_machine(installed: Installed) -> None:
    target = ("--cann", "9.1.0", "--arch", "aarch64", "--python", "3.11", "--chip", "910b")
    plan = json.loads(installed.cli("resolve", *target, "--format", "json").stdout)["result"]["plan"]
    packages = {package["name"]: package for package in plan["packages"]}
    assert plan["pairing"]["cann"] == "9.1.0"
    assert plan["target"]["arch"] == "aarch64"
    assert "aarch64" in packages["torch-npu"]["url"]
    assert not [name for name in packages if name.startswith(("nvidia", "cuda"))]
    assert all(len(package["sha256"]) == 64 for package in packages.values())


def test_env_works_in_a_strict_non_interactive_shell(installed: Installed) -> None:
    environ = outer_environ(installed.home) | {
        "PYTHONPATH": "/somewhere/else",
        "LD_LIBRARY_PATH": "/other/lib",
    }
    ascendenv = installed.checkout / "bin" / "ascendenv"
    script = (
        f'set -eu; eval "$({ascendenv} env)"; eval "$({ascendenv} env)"; '
        'echo "$PYTHONPATH"; echo "$LD_LIBRARY_PATH"; '
        "python -c 'import torch, torch_npu; print(torch.ones(2).npu().sum().item())'"
    )
    pythonpath, library_path, summed = run(["bash", "-c", script], environ).stdout.splitlines()[-3:]
    assert pythonpath.split(":").count("/somewhere/else") == 1
    assert library_path.split(":").count("/other/lib") == 1
    assert len(set(library_path.split(":"))) == len(library_path.split(":"))
    assert summed == "2.0"


def test_pytest_is_not_left_behind(installed: Installed) -> None:
    done = run([installed.python, "-c", "import pytest"], installed.environ(), check=False)
    assert "No module named 'pytest'" in done.stderr


def test_training_on_the_device_gives_the_losses_of_the_cpu(installed: Installed) -> None:
    def losses(device: str) -> list[float]:
        done = run([installed.python, PROGRAMS / "train_mlp.py", device], installed.environ())
        return [float(loss) for loss in json.loads(done.stdout)]

    on_npu, on_cpu = losses("npu:0"), losses("cpu")
    assert on_npu == pytest.approx(on_cpu, abs=1e-5)
    assert on_npu[-1] < on_npu[0] / 2


def test_two_processes_sum_as_the_cpu_does(installed: Installed) -> None:
    torchrun = [installed.path / "bin" / "torchrun", "--standalone", "--nproc_per_node=2"]
    done = run([*torchrun, PROGRAMS / "all_reduce.py"], installed.environ())
    answer = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert answer == {"device": "npu:0", "sum": [3.0 * value for value in range(8)]}


@pytest.mark.parametrize("name", ["torch", "torch-npu"])
def test_nothing_of_the_wheels_is_patched(installed: Installed, name: str, tmp_path: Path) -> None:
    """Every file of the wheel as it came from its index is in the environment, unchanged."""
    lock = (installed.path / "ascendenv" / "pylock.toml").read_text()
    plan = json.loads((installed.path / "ascendenv" / "plan.json").read_text())
    target = Target.model_validate(plan["target"])
    package = next(p for p in read_packages(lock, target) if p.name == name)
    wheel = _local_copy(package.url, tmp_path)
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == package.sha256
    code = "import sysconfig; print(sysconfig.get_path('platlib'))"
    site = Path(run([installed.python, "-I", "-c", code], os.environ).stdout.strip())
    compared = 0
    for path, digest in _record(wheel):
        installed_file = site / path
        assert f"sha256={_sha256(installed_file)}" == digest, path
        compared += 1
    assert compared > 100


def _local_copy(url: str, folder: Path) -> Path:
    if urlsplit(url).scheme == "file":
        return Path(url2pathname(urlsplit(url).path))
    answer = requests.get(url, timeout=60)
    answer.raise_for_status()
    copy = folder / "package.whl"
    copy.write_bytes(answer.content)
    return copy


def _record(wheel: Path) -> list[tuple[str, str]]:
    """Path and digest of the files that an installer copies as they are (scripts are rewritten)."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(io.StringIO(archive.read(name).decode())))
    return [(path, digest) for path, digest, *_ in rows if digest and ".data/" not in path]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
