"""Laws that hold for every version, not only for those published so far."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ascendenv.versions import CannVersion, HdkVersion, train_key

numbers = st.integers(min_value=0, max_value=999)
lines = st.tuples(numbers, numbers).map(lambda pair: f"{pair[0]}.{pair[1]}")
stages = st.builds(
    "{}{}{}{}".format,
    st.sampled_from([".", "-"]),
    st.sampled_from(["alpha", "beta"]),
    st.sampled_from(["", "."]),
    numbers,
)
finals = numbers.map(str)
candidates = st.one_of(
    numbers.map("RC{}".format), numbers.map("rc{}".format), st.builds("RC{}.{}".format, numbers, numbers)
)
releases = st.builds("{}.{}".format, lines, st.one_of(finals, candidates))
cann_texts = st.one_of(releases, st.builds("{}{}".format, releases, stages), lines.map("{}.X".format))
canns = cann_texts.map(CannVersion)

respins = st.lists(st.one_of(numbers.map(".{}".format), numbers.map(".b{}".format)), max_size=2).map("".join)
hdk_texts = st.one_of(
    st.builds("{}.{}{}".format, lines, st.one_of(finals, numbers.map("rc{}".format)), respins),
    lines.map("{}.X".format),
)
hdks = hdk_texts.map(HdkVersion)


@given(cann_texts)
def test_cann_text_survives(text: str) -> None:
    assert str(CannVersion(text)) == text
    assert CannVersion(text) == CannVersion(text.lower()) == CannVersion(text.upper())
    assert hash(CannVersion(text)) == hash(CannVersion(text.swapcase()))


@given(hdk_texts)
def test_hdk_text_survives(text: str) -> None:
    assert str(HdkVersion(text)) == text
    assert HdkVersion(text) == HdkVersion(text.upper())


@given(canns, canns)
def test_cann_order_is_total(a: CannVersion, b: CannVersion) -> None:
    assert [a < b, a == b, a > b].count(True) == 1
    assert (a <= b) is not (a > b)


@given(canns, canns, canns)
def test_cann_order_is_transitive(a: CannVersion, b: CannVersion, c: CannVersion) -> None:
    low, middle, high = sorted((a, b, c))
    assert low <= middle <= high
    assert low <= high


@given(hdks, hdks)
def test_hdk_order_is_total(a: HdkVersion, b: HdkVersion) -> None:
    assert [a < b, a == b, a > b].count(True) == 1
    assert (a <= b) is not (a > b)


@given(hdks, hdks, hdks)
def test_hdk_order_is_transitive(a: HdkVersion, b: HdkVersion, c: HdkVersion) -> None:
    low, middle, high = sorted((a, b, c))
    assert low <= middle <= high
    assert low <= high


@given(releases, stages)
def test_a_stage_comes_before_its_release(release: str, stage: str) -> None:
    assert CannVersion(release + stage) < CannVersion(release)


@given(lines, numbers, finals)
def test_candidates_come_before_finals(line: str, candidate: int, final: str) -> None:
    assert CannVersion(f"{line}.RC{candidate}") < CannVersion(f"{line}.{final}")
    assert HdkVersion(f"{line}.rc{candidate}") < HdkVersion(f"{line}.{final}")


@given(lines, st.one_of(finals, candidates))
def test_a_wildcard_covers_and_follows_all_of_its_line(line: str, rest: str) -> None:
    wildcard, version = CannVersion(f"{line}.X"), CannVersion(f"{line}.{rest}")
    assert wildcard.covers(version)
    assert version < wildcard
    assert not version.covers(wildcard)


@given(canns, canns)
def test_covering_stays_within_the_line(a: CannVersion, b: CannVersion) -> None:
    if a.covers(b):
        assert a.release_line == b.release_line
        assert a.is_wildcard or a == b


@given(hdk_texts.filter(lambda text: not text.endswith("X")), numbers)
def test_a_respin_follows_what_covers_it(text: str, number: int) -> None:
    version, respin = HdkVersion(text), HdkVersion(f"{text}.{number}")
    assert version < respin
    assert version.covers(respin)
    assert not respin.covers(version)


@given(lines, numbers, numbers)
def test_trains_order_like_their_numbers(line: str, a: int, b: int) -> None:
    assert (train_key(f"{line}.{a}") < train_key(f"{line}.{b}")) is (a < b)
    assert train_key(f"{line}.rc{a}") < train_key(f"{line}.{b}") < train_key("preview")
    assert train_key(f"{line}.{a}.alpha001") < train_key(f"{line}.{a}") < train_key(f"{line}.{a}.1")
