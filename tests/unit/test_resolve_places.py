"""One list of the user's indexes for the look and for uv."""

from __future__ import annotations

from pathlib import Path

import installs
import pytest

from ascendenv.compatibility.load import load
from ascendenv.errors import UsageError
from ascendenv.host.model import PipConfiguration
from ascendenv.planning import with_mirror
from ascendenv.resolve import uv
from ascendenv.resolve.places import Place, configured, local_path

PRIVATE = "https://me:secret@index.example/simple"


def pip(**options: object) -> PipConfiguration:
    return PipConfiguration.model_validate({"where": "a test", **options})


def test_nothing_configured_is_nothing() -> None:
    places = configured(pip(), {})

    assert (places.links, places.further, places.default, places.no_index) == ((), (), None, False)


def test_pips_default_index_wins_over_uvs_and_the_rest_adds_up() -> None:
    places = configured(
        pip(index_url="https://pip/", extra_index_urls=("https://more/",), find_links=("/links",)),
        {
            "UV_DEFAULT_INDEX": "https://uv/",
            "UV_INDEX": "corp=https://corp/ https://other/",
            "UV_EXTRA_INDEX_URL": "https://old/",
            "UV_FIND_LINKS": "/one, https://two/",
        },
    )

    assert places.default == Place("https://pip/", "pip")
    assert [place.address for place in places.further] == [
        "https://more/", "https://corp/", "https://other/", "https://old/",
    ]  # fmt: skip
    assert [place.address for place in places.links] == ["/links", "/one", "https://two/"]


@pytest.mark.parametrize("variable", ["UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_uvs_default_index_counts_where_pip_names_none(variable: str) -> None:
    assert configured(pip(), {variable: "https://uv/"}).default == Place("https://uv/", variable)


def test_pips_no_index_means_uvs_indexes_too() -> None:
    places = configured(pip(no_index=True, index_url="https://pip/"), {"UV_INDEX": "https://uv/"})

    assert places.no_index
    assert places.default is None
    assert places.further == ()


def test_titles_show_where_from_and_no_password() -> None:
    assert Place(PRIVATE, "pip").title("index") == "index https://***@index.example/simple"
    assert Place(f"corp={PRIVATE}", "UV_INDEX").title("index") == (
        "index https://***@index.example/simple ($UV_INDEX)"
    )


def test_a_query_in_pips_address_is_no_name() -> None:
    assert Place("https://index/simple?token=1", "pip").address == "https://index/simple?token=1"


def test_paths_may_be_written_in_every_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)

    assert local_path("file:///opt/my%20wheels") == Path("/opt/my wheels")
    assert local_path("~/wheels") == Path("/home/me/wheels")
    assert local_path("wheels") == tmp_path / "wheels"


def test_uv_gets_addresses_by_its_environment_only() -> None:
    configuration = pip(index_url=PRIVATE, extra_index_urls=(PRIVATE,), find_links=(PRIVATE,))

    assert not any("secret" in option for option in uv.options(configuration))
    environ = uv.environ(configuration, {"PATH": "/bin"}, indexes=["https://listed/"])
    assert environ == {
        "PATH": "/bin",
        "UV_NO_PROGRESS": "1",
        "UV_INDEX": f"{PRIVATE} https://listed/",
        "UV_DEFAULT_INDEX": PRIVATE,
        "UV_FIND_LINKS": PRIVATE,
    }


def test_uv_gets_paths_as_addresses_and_only_folders_that_exist(tmp_path: Path) -> None:
    folder = tmp_path / "my, wheels"
    folder.mkdir()

    environ = uv.environ(pip(find_links=(str(folder), str(tmp_path / "gone"))), {})

    assert environ["UV_FIND_LINKS"] == f"file://{tmp_path}/my%2C%20wheels"


def test_uvs_own_variables_are_kept_and_the_old_names_translated() -> None:
    base = {"UV_INDEX_URL": "https://old/", "UV_INDEX": "corp=https://corp/", "UV_INDEX_CORP_USERNAME": "me"}

    environ = uv.environ(pip(), base)

    assert "UV_INDEX_URL" not in environ
    assert environ["UV_DEFAULT_INDEX"] == "https://old/"
    assert environ["UV_INDEX"] == "corp=https://corp/"
    assert environ["UV_INDEX_CORP_USERNAME"] == "me"


def test_an_environment_without_indexes_stays_so() -> None:
    assert uv.environ(pip(), {"PATH": "/bin"}) == {"PATH": "/bin", "UV_NO_PROGRESS": "1"}


def test_certificate_proxy_and_trust_are_translated() -> None:
    configuration = pip(cert="/etc/ca.pem", proxy="proxy.example:3128", trusted_hosts=("corp",))

    environ = uv.environ(configuration, {"http_proxy": "http://old/"})

    assert environ["SSL_CERT_FILE"] == "/etc/ca.pem"
    assert {environ[name] for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy")} == {
        "http://proxy.example:3128"
    }
    assert "--system-certs" not in uv.options(configuration)
    assert "--system-certs" in uv.options(pip())
    assert "--allow-insecure-host=corp" in uv.options(configuration)


def test_no_index_and_offline_are_passed_on() -> None:
    assert {"--no-index", "--offline"} <= set(uv.options(pip(no_index=True), offline=True))
    assert not {"--no-index", "--offline"} & set(uv.options(pip()))


def test_constraints_of_pip_and_uv_both_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CONSTRAINT", "uv.txt")

    assert uv.constraint_options(pip(constraints=("pip.txt",))) == (
        "--constraints=pip.txt",
        "--constraints=uv.txt",
    )


def uv_toml(home: Path, text: str) -> dict[str, str]:
    """Variables of a user whose uv.toml says this."""
    file = home / "uv" / "uv.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return {"XDG_CONFIG_HOME": str(home)}


def test_uvs_own_file_counts(tmp_path: Path) -> None:
    text = """
        extra-index-url = ["https://old-extra/"]
        find-links = ["/links"]
        [[index]]
        url = "https://mirror/"
        default = true
        [[index]]
        name = "corp"
        url = "https://corp/"
    """
    places = configured(pip(), uv_toml(tmp_path, text))

    assert places.default is not None
    assert places.default.title("index") == f"index https://mirror/ ({tmp_path}/uv/uv.toml)"
    assert [place.address for place in places.further] == ["https://corp/", "https://old-extra/"]
    assert [place.address for place in places.links] == ["/links"]


def test_variables_and_pip_win_over_uvs_file(tmp_path: Path) -> None:
    environ = uv_toml(tmp_path, '[pip]\nindex-url = "https://file/"\n')

    assert configured(pip(), environ).default == Place("https://file/", f"{tmp_path}/uv/uv.toml")
    with_variable = configured(pip(), {**environ, "UV_DEFAULT_INDEX": "https://variable/"})
    assert with_variable.default == Place("https://variable/", "UV_DEFAULT_INDEX")
    assert configured(pip(index_url="https://pip/"), environ).default == Place("https://pip/", "pip")
    assert configured(pip(), {**environ, "UV_NO_CONFIG": "1"}).default is None


def test_uvs_file_may_allow_no_index(tmp_path: Path) -> None:
    assert configured(pip(), uv_toml(tmp_path, "no-index = true")).no_index


def test_a_file_of_uv_that_cannot_be_read_is_left_to_uv(tmp_path: Path) -> None:
    assert configured(pip(), uv_toml(tmp_path, "index = ")).default is None


@pytest.mark.parametrize(
    ("mirror", "index"),
    [
        (None, "https://pip/"),
        ("official", None),
        ("cn", "https://mirrors.huaweicloud.com/repository/pypi/simple"),
        ("https://corp/simple", "https://corp/simple"),
    ],
)
def test_a_mirror_can_be_chosen(mirror: str | None, index: str | None) -> None:
    given = installs.host().pip.model_copy(update={"index_url": "https://pip/"})
    host = with_mirror(installs.host().model_copy(update={"pip": given}), load(), mirror)
    assert host.pip.index_url == index


def test_a_mirror_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="`--mirror china` is not an index"):
        with_mirror(installs.host(), load(), "china")
