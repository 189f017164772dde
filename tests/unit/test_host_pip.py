from __future__ import annotations

from pathlib import Path

import pytest
from machines import FakeMachine

from ascendenv.host.pip_config import pip_configuration


def conf(section: str = "global", **options: str) -> str:
    lines = "\n".join(f"{name.replace('_', '-')} = {value}" for name, value in options.items())
    return f"[{section}]\n{lines}\n"


# Each case: files, variables, and the index that pip would use. Later sources are stronger.
XDG = "/etc/xdg/pip/pip.conf"
ETC = "/etc/pip.conf"
LEGACY = "/root/.pip/pip.conf"
USER = "/root/.config/pip/pip.conf"
SITE = "/venv/pip.conf"
CHOSEN = "/chosen.conf"


@pytest.mark.parametrize(
    ("files", "variables", "expected"),
    [
        ({}, {}, None),
        ({XDG: conf(index_url="xdg")}, {}, "xdg"),
        ({"/conf/pip/pip.conf": conf(index_url="conf")}, {"XDG_CONFIG_DIRS": "/none:/conf"}, "conf"),
        ({XDG: conf(index_url="xdg")}, {"XDG_CONFIG_DIRS": "/conf"}, None),
        ({XDG: conf(index_url="xdg"), ETC: conf(index_url="etc")}, {}, "etc"),
        ({ETC: conf(index_url="etc"), LEGACY: conf(index_url="legacy")}, {}, "legacy"),
        ({LEGACY: conf(index_url="legacy"), USER: conf(index_url="user")}, {}, "user"),
        ({"/c/pip/pip.conf": conf(index_url="moved"), USER: conf()}, {"XDG_CONFIG_HOME": "/c"}, "moved"),
        ({USER: conf(index_url="user"), SITE: conf(index_url="site")}, {"VIRTUAL_ENV": "/venv"}, "site"),
        ({USER: conf(index_url="user"), SITE: conf(index_url="site")}, {}, "user"),
        (
            {SITE: conf(index_url="site"), CHOSEN: conf(index_url="chosen")},
            {"VIRTUAL_ENV": "/venv", "PIP_CONFIG_FILE": CHOSEN},
            "chosen",
        ),
        ({USER: conf(index_url="user"), CHOSEN: conf(cert="c")}, {"PIP_CONFIG_FILE": CHOSEN}, None),
        ({ETC: conf(index_url="etc"), CHOSEN: conf(cert="c")}, {"PIP_CONFIG_FILE": CHOSEN}, "etc"),
        ({USER: conf(index_url="user")}, {"PIP_CONFIG_FILE": "/missing.conf"}, "user"),
        ({ETC: conf(index_url="etc"), USER: conf(index_url="user")}, {"PIP_CONFIG_FILE": "/dev/null"}, None),
        ({ETC: conf(index_url="etc")}, {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": "env"}, "env"),
        ({USER: conf(index_url="user")}, {"PIP_INDEX_URL": "env"}, "env"),
        ({USER: conf(index_url="user")}, {"PIP_INDEX_URL": ""}, "user"),
        ({ETC: conf("install", index_url="install"), USER: conf(index_url="user")}, {}, "install"),
        ({ETC: conf("install", index_url="install")}, {"PIP_INDEX_URL": "env"}, "env"),
        ({ETC: conf("download", index_url="download")}, {}, None),
        ({ETC: conf(index_url="etc"), USER: conf(index_url="")}, {}, None),
        ({ETC: "[global]\nIndex_URL = spelled\n"}, {}, "spelled"),
        ({ETC: "[global]\nindex-url: colon\n"}, {}, "colon"),
    ],
)  # fmt: skip
def test_precedence(
    tmp_path: Path, files: dict[str, str], variables: dict[str, str], expected: str | None
) -> None:
    machine = FakeMachine(tmp_path)
    for path, text in files.items():
        machine.file(path, text)
    assert pip_configuration(machine.environ(**variables).build()).index_url == expected


def test_the_site_file_is_that_of_the_given_environment(tmp_path: Path) -> None:
    machine = (
        FakeMachine(tmp_path)
        .file(SITE, conf(index_url="active"))
        .file("/new/pip.conf", conf(index_url="new"))
    )
    found = pip_configuration(machine.environ(VIRTUAL_ENV="/venv").build(), Path("/new"))
    assert found.index_url == "new"


def test_lists_are_split_and_replaced_as_a_whole(tmp_path: Path) -> None:
    machine = (
        FakeMachine(tmp_path)
        .file(ETC, "[global]\nextra-index-url =\n    one\n    two three\nfind-links = /a /b\n")
        .file(USER, conf(find_links="/c"))
        .environ(PIP_TRUSTED_HOST="x y", PIP_CONSTRAINT="/c.txt")
    )
    found = pip_configuration(machine.build())
    assert found.extra_index_urls == ("one", "two", "three")
    assert found.find_links == ("/c",)
    assert found.trusted_hosts == ("x", "y")
    assert found.constraints == ("/c.txt",)
    assert found.where == f"{ETC}, {USER}, $PIP_TRUSTED_HOST, $PIP_CONSTRAINT"


@pytest.mark.parametrize(
    ("text", "expected"), [("1", True), ("yes", True), ("True", True), ("0", False), ("off", False)]
)
def test_flags(tmp_path: Path, text: str, *, expected: bool) -> None:
    machine = (
        FakeMachine(tmp_path).environ(PIP_NO_INDEX=text).file(USER, conf(cert="/ca.pem", proxy="http://p:1"))
    )
    found = pip_configuration(machine.build())
    assert found.no_index is expected
    assert (found.cert, found.proxy) == ("/ca.pem", "http://p:1")


@pytest.mark.parametrize(
    "text", ["index-url = https://u:secret@example.org\n", "[global]\n[global]\n", "[global]\nsecret\n"]
)
def test_a_broken_file_is_told_of_without_its_content(tmp_path: Path, text: str) -> None:
    told: list[str] = []
    machine = FakeMachine(tmp_path).file(ETC, text).file(USER, conf(index_url="user"))
    assert pip_configuration(machine.build(), warn=told.append).index_url == "user"
    assert len(told) == 1
    assert ETC in told[0]
    assert "secret" not in told[0]


def test_nothing_configured(tmp_path: Path) -> None:
    found = pip_configuration(FakeMachine(tmp_path).environ(PIP_DEFAULT_TIMEOUT="9").build())
    assert found.where == "no pip configuration"
