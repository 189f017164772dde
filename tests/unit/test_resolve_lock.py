"""uv's lock of a choice, from indexes on the disk."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from mirror.index import FakeIndex, FakeLinks
from mirror.server import Reply, answering, served
from packaging.version import Version
from planning import chosen, target

from ascendenv.errors import ExitCode, NetworkError
from ascendenv.host.model import PipConfiguration
from ascendenv.render import formats
from ascendenv.resolve import uv
from ascendenv.resolve.lock import LockError, lock, one_paragraph, read_packages
from ascendenv.resolve.model import Plan, Request, Target
from ascendenv.resolve.resolver import Choice

X86, ARM = target("x86_64", "3.11"), target("aarch64", "3.11")


@pytest.fixture(autouse=True)
def _uv_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the machine's configuration nor its cache has a say, and a dead index is given up at once."""
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


def choice(*requirements: str, torch: str = "2.12.0+cpu", on: Target = X86) -> Choice:
    """A choice with these requirements; what surrounds them is a real one."""
    wanted = (f"torch=={torch}", "torch-npu==2.12.0", *requirements)
    made = replace(chosen(Request(cann="9.1.0"), on), requirements=wanted, indexes=(), torch=Version(torch))
    return replace(made, target=on)


def pip(index: FakeIndex | str, **options: object) -> PipConfiguration:
    url = index if isinstance(index, str) else index.url
    return PipConfiguration.model_validate({"where": "a test", "index_url": url, **options})


@pytest.fixture
def index(tmp_path: Path) -> FakeIndex:
    made = FakeIndex(tmp_path / "index")
    for arch in ("x86_64", "aarch64"):
        tag = f"cp311-cp311-manylinux_2_28_{arch}"
        made.add("torch", "2.12.0+cpu", tag=tag, requires=["sympy"]).add("torch_npu", "2.12.0", tag=tag)
    return made.add("sympy", "1.13", requires=["mpmath<2"]).add("mpmath", "1.3").add("mpmath", "2.0")


def locked(plan: Plan) -> dict[str, str]:
    return {package.name: package.version for package in plan.packages}


def test_every_package_is_locked_with_its_hash(index: FakeIndex) -> None:
    plan = lock(choice(), pip(index))

    assert locked(plan) == {"mpmath": "1.3", "sympy": "1.13", "torch": "2.12.0+cpu", "torch-npu": "2.12.0"}
    assert all(len(package.sha256) == 64 for package in plan.packages)
    assert plan.lock.count("sha256") == 4


@pytest.mark.parametrize("on", [X86, ARM], ids=["x86_64", "aarch64"])
def test_the_wheel_is_the_one_for_the_target(index: FakeIndex, on: Target) -> None:
    urls = {package.name: package.url for package in lock(choice(on=on), pip(index)).packages}

    assert urls["torch"].endswith(f"manylinux_2_28_{on.arch}.whl")
    assert urls["torch-npu"].endswith(f"manylinux_2_28_{on.arch}.whl")


def test_of_several_wheels_the_installers_choice_is_told(index: FakeIndex) -> None:
    for tag in ("py3-none-any", "cp311-cp311-manylinux_2_17_x86_64", "cp312-cp312-manylinux_2_17_x86_64"):
        index.add("numpy", "1.26.4", tag=tag)

    plan = lock(choice("numpy"), pip(index))

    (numpy,) = (package for package in plan.packages if package.name == "numpy")
    assert numpy.url.endswith("cp311-cp311-manylinux_2_17_x86_64.whl")


@pytest.mark.parametrize(
    ("limits", "version"),
    [
        (["numpy>=1.19.2,<=1.24", "numpy"], "1.24.0"),
        (['numpy>=1.19.2,<2.0; python_version < "3.13"', 'numpy>2.1; python_version >= "3.13"'], "1.26.4"),
        (["numpy>=1.19.2"], "2.3.0"),
    ],
)
def test_the_limits_of_the_cann_hold_for_numpy(index: FakeIndex, limits: list[str], version: str) -> None:
    for number in ("1.24.0", "1.26.4", "2.3.0"):
        index.add("numpy", number)

    assert locked(lock(choice(*limits), pip(index)))["numpy"] == version


def test_what_a_lock_needs_from_a_further_index_is_found(tmp_path: Path, index: FakeIndex) -> None:
    further = FakeIndex(tmp_path / "further").add("pyyaml", "6.0")
    wanted = replace(choice("pyyaml"), indexes=(further.url,))

    assert locked(lock(wanted, pip(index)))["pyyaml"] == "6.0"


def test_the_best_version_over_all_indexes_is_taken_as_pip_does(tmp_path: Path, index: FakeIndex) -> None:
    further = FakeIndex(tmp_path / "further").add("numpy", "1.0")
    index.add("numpy", "2.0")

    plan = lock(choice("numpy"), pip(index, extra_index_urls=(further.url,)))

    assert locked(plan)["numpy"] == "2.0"


def test_links_alone_will_do(tmp_path: Path) -> None:
    links = FakeLinks(tmp_path / "links").add("torch", "2.12.0+cpu").add("torch_npu", "2.12.0")

    plan = lock(choice(), pip("http://127.0.0.1:1/", no_index=True, find_links=(str(links.path),)))

    assert locked(plan) == {"torch": "2.12.0+cpu", "torch-npu": "2.12.0"}


def test_a_constraint_is_kept(tmp_path: Path, index: FakeIndex) -> None:
    index.add("numpy", "1.26.4").add("numpy", "2.3.0")
    (tmp_path / "constraints.txt").write_text("numpy<2\n")

    plan = lock(choice("numpy"), pip(index, constraints=(str(tmp_path / "constraints.txt"),)))

    assert locked(plan)["numpy"] == "1.26.4"


def test_a_constraint_in_the_way_is_named_with_its_file(tmp_path: Path, index: FakeIndex) -> None:
    file = tmp_path / "constraints.txt"
    file.write_text("requests<1\nmpmath<1\n")

    with pytest.raises(LockError) as caught:
        lock(choice(), pip(index, constraints=(str(file),)))

    assert caught.value.message.startswith(
        f"a constraint of your pip configuration is in the way: mpmath<1 in {file}. No solution found"
    )
    assert "\n" not in caught.value.message
    assert caught.value.exit_code is ExitCode.NO_COMBINATION


def test_packages_that_do_not_go_together_are_told_in_one_paragraph(tmp_path: Path, index: FakeIndex) -> None:
    (tmp_path / "constraints.txt").write_text("numpy<3\n")

    with pytest.raises(LockError) as caught:
        lock(choice("mpmath>=2"), pip(index, constraints=(str(tmp_path / "constraints.txt"),)))

    assert caught.value.message.startswith("the packages of this plan do not go together: No solution found")
    assert "mpmath" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 3


def test_a_package_that_no_index_has_is_named(index: FakeIndex) -> None:
    with pytest.raises(LockError, match="decorator was not found"):
        lock(choice("decorator"), pip(index))


def test_only_wheels_are_taken(tmp_path: Path, index: FakeIndex) -> None:
    page = tmp_path / "index" / "decorator"
    page.mkdir()
    (page / "decorator-5.0.tar.gz").write_bytes(b"")
    (page / "index.html").write_text('<a href="decorator-5.0.tar.gz">decorator-5.0.tar.gz</a>')

    with pytest.raises(LockError, match="decorator"):
        lock(choice("decorator"), pip(index))


def test_another_build_of_torch_from_the_users_index_is_refused(index: FakeIndex) -> None:
    index.add("torch", "2.10.0").add("torch", "2.10.0+cu126")

    with pytest.raises(LockError, match=r"torch 2\.10\.0 is needed, but .* offers torch 2\.10\.0\+cu126"):
        lock(choice(torch="2.10.0"), pip(index))


def test_an_index_out_of_reach_is_a_network_error() -> None:
    with pytest.raises(NetworkError) as caught:
        lock(choice(), pip("http://me:secret@127.0.0.1:1/simple/"))

    assert "secret" not in caught.value.message
    assert "127.0.0.1:1" in caught.value.message
    assert "\n" not in caught.value.message


def test_where_an_index_refuses_the_password_the_hint_thinks_of_it() -> None:
    """uv tells "not found" from "not allowed" only when it looks in one index at a time."""
    with answering({"/torch/": Reply(status=401), "/torch-npu/": Reply(status=401)}) as server:
        address = server.with_credentials("me", "secret")
        with pytest.raises(LockError, match="torch was not found") as caught:
            lock(choice(), pip(address))

    assert "secret" not in caught.value.message
    assert caught.value.hint is not None
    assert "or refuse your password" in caught.value.hint


def test_offline_says_what_would_help() -> None:
    with pytest.raises(NetworkError) as caught:
        lock(choice(), pip("http://127.0.0.1:1/"), offline=True)

    assert caught.value.hint is not None
    assert caught.value.hint.startswith("leave --offline out")


def test_no_password_is_in_a_plan_or_its_lock(index: FakeIndex) -> None:
    with served(index.path) as server:
        plan = lock(choice(), pip(server.with_credentials("me", "secret")))

    assert server.authorizations[0] == "Basic bWU6c2VjcmV0"
    assert "secret" not in plan.lock
    assert "secret" not in plan.model_dump_json()


def test_a_token_in_the_address_of_a_wheel_is_not_shown() -> None:
    text = (
        'lock-version = "1.0"\ncreated-by = "a test"\n[[packages]]\nname = "torch"\nversion = "2.12.0"\n'
        'wheels = [{ url = "https://index/torch-2.12.0-py3-none-any.whl?token=secret", '
        f'hashes = {{ sha256 = "{"0" * 64}" }} }}]\n'
    )

    (package,) = read_packages(text, X86)

    assert package.url.endswith("?token=secret")
    assert "secret" not in package.model_dump_json()


def test_of_the_wheels_in_a_lock_the_best_for_the_target_is_told() -> None:
    names = [
        f"numpy-2.3.0-{tag}.whl"
        for tag in ("py3-none-any", "cp312-cp312-manylinux_2_28_x86_64", "cp311-cp311-manylinux_2_28_x86_64")
    ]
    wheels = ", ".join(
        f'{{ url = "https://index/{name}", hashes = {{ sha256 = "{"0" * 64}" }} }}' for name in names
    )
    text = (
        'lock-version = "1.0"\ncreated-by = "a test"\n[[packages]]\nname = "numpy"\nversion = "2.3.0"\n'
        f"wheels = [{wheels}]\n"
    )

    assert read_packages(text, X86)[0].url.endswith(names[2])
    assert read_packages(text, target("x86_64", "3.12"))[0].url.endswith(names[1])
    assert read_packages(text, ARM)[0].url.endswith(names[0])


def test_no_command_line_holds_a_password(
    tmp_path: Path, index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for uv writes down what every user of the machine could read of it."""
    seen, real = tmp_path / "command-line", uv.executable()
    spy = tmp_path / "uv"
    spy.write_text(f'#!/bin/sh\necho "$@" >{seen}\nexec {real} "$@"\n')
    spy.chmod(spy.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(uv, "executable", lambda: str(spy))

    with served(index.path) as server:
        lock(choice(), pip(server.with_credentials("me", "secret")))

    assert "pip compile" in seen.read_text()
    assert "secret" not in seen.read_text()


def test_a_broken_uv_is_told_without_its_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = tmp_path / "uv"
    spy.write_text("#!/bin/sh\necho 'error: something strange' >&2\nexit 2\n")
    spy.chmod(spy.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(uv, "executable", lambda: str(spy))

    with pytest.raises(LockError, match=r"^uv could not lock the packages: something strange$"):
        lock(choice(), pip("http://127.0.0.1:1/"))


@pytest.mark.parametrize(
    ("printed", "paragraph"),
    [
        (
            "error: No solution found\n  cause: Because a\n         And because b\n\nhint: c",
            "No solution found Because a And because b c",
        ),
        ("error: at https://me:pw@index/simple", "at https://***@index/simple"),
        ("", ""),
    ],
)
def test_uvs_words_become_one_paragraph(printed: str, paragraph: str) -> None:
    assert one_paragraph(printed) == paragraph


def test_a_plan_says_what_later_installations_have_to_keep_to(index: FakeIndex) -> None:
    index.add("numpy", "1.26.4").add("triton_ascend", "3.2.2")
    wanted = replace(
        choice("numpy", "triton-ascend==3.2.2"),
        on_top=("triton-ascend",),
        bounds=("numpy<2", 'numpy>2.1; python_version >= "3.13"', "attrs"),
        shut_out={"triton": "triton-ascend"},
    )

    assert lock(wanted, pip(index)).constraints == (
        "torch==2.12.0+cpu",
        "torch-npu==2.12.0",
        "triton-ascend==3.2.2",
        "numpy<2",
        'numpy>2.1; python_version >= "3.13"',
        "triton==0+overwrites.triton.ascend",
    )


def test_overrides_hold_whatever_a_package_declares(index: FakeIndex) -> None:
    index.add("vllm", "1.0", requires=["torch==2.13.0", "triton"])
    wanted = replace(choice("vllm"), overrides=("torch==2.12.0+cpu", "triton; python_version < '0'"))

    assert locked(lock(wanted, pip(index)))["torch"] == "2.12.0+cpu"
    with pytest.raises(LockError, match="do not go together"):
        lock(choice("vllm"), pip(index))


def test_a_plan_as_files(index: FakeIndex) -> None:
    made = lock(replace(choice(), bounds=()), pip(index))
    plan = made.model_copy(update={"indexes": ("https://user:secret@example.org/simple",)})
    torch = next(package for package in plan.packages if package.name == "torch")

    lines = formats.requirements(plan).splitlines()
    assert lines[:2] == [
        "# CANN 9.1.0, torch 2.12.0, torch_npu 2.12.0.post2",
        "# for x86_64, Python 3.11, glibc 2.28",
    ]
    assert lines[2] == "--extra-index-url https://***@example.org/simple"
    assert f"torch==2.12.0+cpu --hash=sha256:{torch.sha256}" in lines
    assert formats.constraints(plan).splitlines()[2:] == ["torch==2.12.0+cpu", "torch-npu==2.12.0"]
    assert formats.pylock(plan) == plan.lock
