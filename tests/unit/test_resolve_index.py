"""Where wheels are looked for, in which order, and what is said of each place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from mirror.index import FakeIndex, FakeLinks
from mirror.server import Reply, answering, served
from packaging.version import Version
from planning import MATRIX, target

from ascendenv import fetch
from ascendenv.compatibility.model import Matrix, PackageIndex
from ascendenv.host.model import PipConfiguration
from ascendenv.resolve.index import NOT_ASKED, Found, Missing, WheelSources
from ascendenv.resolve.model import Looked
from ascendenv.resolve.remembered import Pages
from ascendenv.vocabulary import Evidence

MANYLINUX = "cp311-cp311-manylinux_2_28_x86_64"
VERSION = Version("2.12.0+cpu")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fetch, "CONNECT_SECONDS", 0.5)


@pytest.fixture
def empty(tmp_path: Path) -> str:
    """A default index that has nothing, in place of the real one."""
    return FakeIndex(tmp_path / "default").url


def row(name: str, url: str, order: int, mirror_of: str | None = None) -> PackageIndex:
    """An index of the matrix on this machine; the real rows are all https."""
    return PackageIndex.model_construct(
        name=name, url=url, has=("torch",), order=order, mirror_of=mirror_of,
        evidence=Evidence.OFFICIAL, source="a test", note="",
    )  # fmt: skip


def matrix(*rows: PackageIndex) -> Matrix:
    return MATRIX.model_copy(update={"indexes": rows})


def pip(**options: object) -> PipConfiguration:
    return PipConfiguration.model_validate({"where": "a test", **options})


def find(
    configuration: PipConfiguration, *rows: PackageIndex, project: str = "torch", offline: bool = False
) -> Found | Missing:
    sources = WheelSources(configuration, matrix(*rows), offline=offline)
    return sources.find(project, VERSION, target())


def missing(configuration: PipConfiguration, *rows: PackageIndex, offline: bool = False) -> Missing:
    answer = find(configuration, *rows, offline=offline)
    assert isinstance(answer, Missing), answer
    return answer


def outcomes(answer: Missing) -> list[str]:
    return [look.outcome for look in answer.looks]


def test_a_wheel_in_a_link_folder_is_found(tmp_path: Path, empty: str) -> None:
    links = FakeLinks(tmp_path / "links").add("torch", "2.12.0+cpu", tag=MANYLINUX)

    found = find(pip(find_links=(str(links.path),), index_url=empty))

    assert isinstance(found, Found)
    assert found.wheel.filename == f"torch-2.12.0+cpu-{MANYLINUX}.whl"
    assert found.place == f"find-links {links.path}"
    assert found.index is None


def test_links_come_first_then_further_indexes_then_the_default(tmp_path: Path) -> None:
    places = [FakeIndex(tmp_path / name) for name in ("further", "default")]
    links = FakeLinks(tmp_path / "links")
    configuration = pip(
        find_links=(str(links.path),), extra_index_urls=(places[0].url,), index_url=places[1].url
    )

    answer = missing(configuration, row("listed", FakeIndex(tmp_path / "listed").url, 1))

    assert [look.place for look in answer.looks] == [
        f"find-links {links.path}",
        f"index {places[0].url}",
        f"index {places[1].url}",
        "listed",
    ]
    assert answer.certain


@pytest.mark.parametrize(
    ("version", "tag", "outcome"),
    [
        ("2.12.0+cpu", "cp312-cp312-manylinux_2_28_x86_64", "only wheels for other Pythons or platforms"),
        ("2.12.0+cpu", "cp311-cp311-manylinux_2_28_aarch64", "only wheels for other Pythons or platforms"),
        ("2.12.0+cpu", "cp311-cp311-manylinux_2_34_x86_64", "only wheels for other Pythons or platforms"),
        ("2.12.0+cpu", "cp311-cp311-win_amd64", "only wheels for other Pythons or platforms"),
        ("2.12.0", MANYLINUX, "only builds of it other than +cpu"),
        ("2.12.0+cu126", MANYLINUX, "only builds of it other than +cpu"),
        ("2.11.0+cpu", MANYLINUX, "only other versions"),
    ],
)
def test_what_was_there_instead_is_told(
    tmp_path: Path, empty: str, version: str, tag: str, outcome: str
) -> None:
    links = FakeLinks(tmp_path / "links").add("torch", version, tag=tag)

    assert outcomes(missing(pip(find_links=(str(links.path),), index_url=empty)))[0] == outcome


@pytest.mark.parametrize(
    "tag",
    ["cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64", "cp39-abi3-linux_x86_64", "py3-none-any"],
)
def test_every_tag_that_the_target_accepts_will_do(tmp_path: Path, empty: str, tag: str) -> None:
    links = FakeLinks(tmp_path / "links").add("torch", "2.12.0+cpu", tag=tag)

    assert isinstance(find(pip(find_links=(str(links.path),), index_url=empty)), Found)


def test_a_yanked_wheel_is_not_there(tmp_path: Path) -> None:
    index = FakeIndex(tmp_path / "index").add("torch", "2.12.0+cpu", yanked="broken")

    assert outcomes(missing(pip(index_url=index.url))) == ["nothing of the name"]


def test_a_link_folder_that_does_not_exist_is_passed_over_as_pip_does(tmp_path: Path, empty: str) -> None:
    answer = missing(pip(find_links=(str(tmp_path / "gone"),), index_url=empty))

    assert outcomes(answer) == ["nothing of the name", "nothing of the name"]
    assert answer.certain


def test_a_page_of_links_on_disk_will_do(tmp_path: Path, empty: str) -> None:
    page = tmp_path / "torch_stable.html"
    page.write_text('<a href="cpu/torch-2.12.0%2Bcpu-cp311-cp311-linux_x86_64.whl">torch</a>')

    assert isinstance(find(pip(find_links=(str(page),), index_url=empty)), Found)


def test_no_index_leaves_only_the_links(tmp_path: Path) -> None:
    links = FakeLinks(tmp_path / "links")
    index = FakeIndex(tmp_path / "index").add("torch", "2.12.0+cpu")

    answer = missing(
        pip(find_links=(str(links.path),), no_index=True, index_url=index.url), row("listed", index.url, 1)
    )

    assert [look.place for look in answer.looks] == [f"find-links {links.path}"]
    assert answer.certain


def test_a_constraint_of_the_users_rules_a_wheel_out(tmp_path: Path) -> None:
    index = FakeIndex(tmp_path / "index").add("torch", "2.12.0+cpu")
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("# ours\ntorch<2.12  # until the drivers are new\n-r other.txt\nnumpy<2\n")

    answer = missing(pip(index_url=index.url, constraints=(str(constraints),)))

    assert answer.looked == (
        Looked(outcome="excluded by torch<2.12", places=(str(constraints),), answered=True),
    )


@pytest.mark.parametrize(
    ("line", "applies"),
    [
        ("torch<2; python_version < '3.12'", True),
        ("torch<2; python_version >= '3.12'", False),
        ("torch<2; platform_machine == 'aarch64'", False),
        ("torchvision<0.1", False),
        ("torch<=2.12.0", False),
    ],
)
def test_a_constraint_counts_where_it_speaks_of_the_target(
    tmp_path: Path, line: str, *, applies: bool
) -> None:
    index = FakeIndex(tmp_path / "index").add("torch", "2.12.0+cpu")
    (tmp_path / "constraints.txt").write_text(line)

    answer = find(pip(index_url=index.url, constraints=(str(tmp_path / "constraints.txt"),)))

    assert isinstance(answer, Missing if applies else Found)


def test_a_mirror_is_only_asked_when_its_original_does_not_answer(tmp_path: Path, empty: str) -> None:
    original = FakeIndex(tmp_path / "original").add("torch", "2.11.0+cpu")
    mirror = FakeIndex(tmp_path / "mirror").add("torch", "2.12.0+cpu")
    copy = row("mirror", mirror.url, 2, mirror_of="original")

    answer = missing(pip(index_url=empty), row("original", original.url, 1), copy)
    assert [look.place for look in answer.looks][1:] == ["original"]

    found = find(pip(index_url=empty), row("original", "http://127.0.0.1:1/", 1), copy)
    assert isinstance(found, Found)
    assert (found.place, found.index) == ("mirror", mirror.url)


def test_the_answer_of_a_mirror_is_as_good_as_the_originals(tmp_path: Path, empty: str) -> None:
    mirror = FakeIndex(tmp_path / "mirror").add("torch", "2.11.0+cpu")
    original = row("original", "http://127.0.0.1:1/", 1)

    assert not missing(pip(index_url=empty), original).certain
    assert missing(pip(index_url=empty), original, row("mirror", mirror.url, 2, mirror_of="original")).certain


def test_an_index_that_the_user_configured_is_not_asked_again(tmp_path: Path) -> None:
    index = FakeIndex(tmp_path / "index")
    rows = (row("listed", index.url, 1), row("mirror", "http://127.0.0.1:1/", 2, mirror_of="listed"))

    answer = missing(pip(index_url=f"{index.url}/"), *rows)

    assert [look.place for look in answer.looks] == [f"index {index.url}/"]


def test_an_index_out_of_reach_is_told_of_once() -> None:
    dead = "http://127.0.0.1:1/simple"

    answer = missing(pip(index_url=dead, extra_index_urls=(dead,)), row("listed", dead, 1))

    assert [look.place for look in answer.looks] == [f"index {dead}"]


def test_uvs_variables_are_seen_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    further, default = FakeIndex(tmp_path / "further"), FakeIndex(tmp_path / "default")
    links = FakeLinks(tmp_path / "links")
    monkeypatch.setenv("UV_INDEX", f"corp={further.url}")
    monkeypatch.setenv("UV_DEFAULT_INDEX", default.url)
    monkeypatch.setenv("UV_FIND_LINKS", str(links.path))

    assert [look.place for look in missing(pip()).looks] == [
        f"find-links {links.path} ($UV_FIND_LINKS)",
        f"index {further.url} ($UV_INDEX)",
        f"index {default.url} ($UV_DEFAULT_INDEX)",
    ]


def test_offline_asks_what_is_on_disk_and_says_what_was_not_asked(tmp_path: Path) -> None:
    links = FakeLinks(tmp_path / "links")

    answer = missing(
        pip(find_links=(str(links.path),)), row("listed", "http://127.0.0.1:1/", 1), offline=True
    )

    assert [(look.outcome, look.places) for look in answer.looked] == [
        (NOT_ASKED, ("the default index", "listed")),
        ("nothing of the name", (f"find-links {links.path}",)),
    ]
    assert not answer.certain


def test_offline_finds_what_is_on_disk(tmp_path: Path) -> None:
    links = FakeLinks(tmp_path / "links").add("torch", "2.12.0+cpu")

    assert isinstance(find(pip(find_links=(str(links.path),)), offline=True), Found)


# Over HTTP.

WHEEL = f"torch-2.12.0+cpu-{MANYLINUX}.whl"
HTML = '<html><body><a href="../../torch-2.12.0%2Bcpu-{}.whl" {}>w</a></body></html>'


@pytest.mark.parametrize(
    "reply",
    [
        Reply.json_page("torch", WHEEL),
        Reply(text=HTML.format(MANYLINUX, "")),
        Reply(
            text=HTML.format(MANYLINUX, ""), headers={"Content-Type": "application/vnd.pypi.simple.v1+html"}
        ),
    ],
    ids=["json", "html", "versioned html"],
)
def test_both_forms_of_the_simple_index_are_read(reply: Reply) -> None:
    with answering({"/simple/torch/": reply}) as server:
        found = find(pip(index_url=f"{server.url}/simple/"))

    assert isinstance(found, Found)
    assert found.wheel.filename == WHEEL


@pytest.mark.parametrize(
    "reply",
    [Reply.json_page("torch", yanked=(WHEEL,)), Reply(text=HTML.format(MANYLINUX, "data-yanked"))],
    ids=["json", "html"],
)
def test_yanked_wheels_are_left_out_in_both_forms(reply: Reply) -> None:
    with answering({"/torch/": reply}) as server:
        assert outcomes(missing(pip(index_url=server.url))) == ["nothing of the name"]


def test_a_redirect_is_followed() -> None:
    replies = {
        "/torch/": Reply(status=301, headers={"Location": "/elsewhere/torch/"}),
        "/elsewhere/torch/": Reply.json_page("torch", WHEEL),
    }
    with answering(replies) as server:
        assert isinstance(find(pip(index_url=server.url)), Found)


def test_not_found_is_an_answer() -> None:
    with answering({}) as server:
        answer = missing(pip(index_url=server.url))

    assert outcomes(answer) == ["nothing of the name"]
    assert answer.certain


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_an_index_that_refuses_has_given_no_answer(status: int) -> None:
    with answering({"/torch/": Reply(status=status)}) as server:
        answer = missing(pip(index_url=server.url))

    assert outcomes(answer) == [f"HTTP {status}"]
    assert not answer.certain


def test_an_index_that_refuses_one_project_is_still_asked_for_another() -> None:
    replies = {"/torch-npu/": Reply(status=403), "/torch/": Reply.json_page("torch", WHEEL)}
    with answering(replies) as server:
        sources = WheelSources(pip(index_url=server.url), matrix(), offline=False)
        assert isinstance(sources.find("torch-npu", VERSION, target()), Missing)
        assert isinstance(sources.find("torch", VERSION, target()), Found)


def test_an_index_out_of_reach_is_tried_once() -> None:
    sources = WheelSources(pip(index_url="http://127.0.0.1:1/"), matrix(), offline=False)

    answers = [sources.find(project, VERSION, target()) for project in ("torch", "torch-npu")]

    assert [answer.looks[0].outcome for answer in answers if isinstance(answer, Missing)] == [
        "not reachable"
    ] * 2


def test_a_name_that_does_not_resolve_is_not_reachable() -> None:
    assert outcomes(missing(pip(index_url="http://index.invalid/simple/"))) == ["not reachable"]


def test_an_index_that_is_too_slow_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    sources_session = fetch.session
    monkeypatch.setattr(fetch, "session", lambda pip, **_: sources_session(pip, timeout=(1, 0.05)))
    with answering({"/torch/": Reply(pause=0.4)}) as server:
        assert outcomes(missing(pip(index_url=server.url))) == ["no answer in time"]


def test_a_page_that_is_none_is_not_readable() -> None:
    reply = Reply(text="{", headers={"Content-Type": "application/vnd.pypi.simple.v1+json"})
    with answering({"/torch/": reply}) as server:
        answer = missing(pip(index_url=server.url))

    assert outcomes(answer)[0].startswith("not readable")
    assert not answer.certain


def test_each_page_is_fetched_once(tmp_path: Path) -> None:
    FakeIndex(tmp_path).add("torch", "2.11.0+cpu")
    with served(tmp_path) as server:
        sources = WheelSources(pip(index_url=server.url), matrix(), offline=False)
        for version in ("2.12.0+cpu", "2.11.0+cpu", "2.10.0"):
            sources.find("torch", Version(version), target())

    assert server.asked == ["/torch/"]


def test_credentials_are_used_and_never_shown() -> None:
    with answering({"/simple/torch/": Reply.json_page("torch")}) as server:
        address = server.with_credentials("me", "secret")
        answer = missing(pip(index_url=f"{address}/simple", find_links=(f"{address}/links",)))

    assert server.asked == ["/links", "/simple/torch/"]
    assert server.authorizations == ["Basic bWU6c2VjcmV0"] * 2
    assert "secret" not in repr(answer)
    assert answer.looks[1].place == f"index http://***@{server.url.removeprefix('http://')}/simple"


def test_a_remote_page_of_links_is_read() -> None:
    with answering({"/links.html": Reply(text=HTML.format(MANYLINUX, ""))}) as server:
        found = find(pip(find_links=(f"{server.url}/links.html",), no_index=True))

    assert isinstance(found, Found)


def test_with_mirrors_first_the_copied_index_is_asked_last(tmp_path: Path, empty: str) -> None:
    names = ("original", "copy")
    original, copy = (FakeIndex(tmp_path / name).add("torch", "2.12.0+cpu", tag=MANYLINUX) for name in names)
    rows = (row("original", original.url, 10), row("copy", copy.url, 20, mirror_of="original"))

    for mirrors_first, place in ((False, "original"), (True, "copy")):
        sources = WheelSources(
            pip(index_url=empty), matrix(*rows), offline=False, mirrors_first=mirrors_first
        )
        found = sources.find("torch", VERSION, target())
        assert isinstance(found, Found)
        assert found.place == place


def test_what_an_index_has_answered_is_not_asked_again_for_a_while(tmp_path: Path) -> None:
    pages = Pages(tmp_path / "pages")
    with answering({"/torch/": Reply.json_page("torch", WHEEL)}) as server:
        for _ in range(2):
            sources = WheelSources(pip(index_url=server.url), matrix(), offline=False, pages=pages)
            assert isinstance(sources.find("torch", VERSION, target()), Found)
        assert server.asked == ["/torch/"]
        for page in pages.folder.iterdir():
            os.utime(page, (1, 1))
        sources = WheelSources(pip(index_url=server.url), matrix(), offline=False, pages=pages)
        assert isinstance(sources.find("torch", VERSION, target()), Found)
        assert server.asked == ["/torch/"] * 2


def test_offline_an_old_answer_is_better_than_none(tmp_path: Path) -> None:
    pages = Pages(tmp_path / "pages")
    with answering({"/torch/": Reply.json_page("torch", WHEEL)}) as server:
        url = server.url
        WheelSources(pip(index_url=url), matrix(), offline=False, pages=pages).find(
            "torch", VERSION, target()
        )
    for page in pages.folder.iterdir():
        os.utime(page, (1, 1))

    offline = WheelSources(pip(index_url=url), matrix(), offline=True, pages=pages)

    assert isinstance(offline.find("torch", VERSION, target()), Found)
    other = offline.find("torch-npu", VERSION, target())
    assert isinstance(other, Missing)
    assert outcomes(other) == [NOT_ASKED]


def test_a_damaged_memory_and_one_that_cannot_be_written_only_cost_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with answering({"/torch/": Reply.json_page("torch", WHEEL)}) as server:
        for folder in (tmp_path / "file" / "pages", tmp_path / "pages"):
            sources = WheelSources(pip(index_url=server.url), matrix(), offline=False, pages=Pages(folder))
            assert isinstance(sources.find("torch", VERSION, target()), Found)
        for page in (tmp_path / "pages").iterdir():
            page.write_text("{")
        sources = WheelSources(
            pip(index_url=server.url), matrix(), offline=False, pages=Pages(tmp_path / "pages")
        )
        assert isinstance(sources.find("torch", VERSION, target()), Found)
        assert len(server.asked) == 3
