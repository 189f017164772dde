from __future__ import annotations

import pytest

from ascendenv.host.model import PipConfiguration
from ascendenv.host.urls import redact_text, redact_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/simple", "https://example.org/simple"),
        ("https://example.org:8443/simple/", "https://example.org:8443/simple/"),
        ("https://user:secret@example.org/simple", "https://***@example.org/simple"),
        ("https://secret@example.org/simple", "https://***@example.org/simple"),
        ("https://user:secret@example.org:8443/a@b", "https://***@example.org:8443/a@b"),
        ("https://user:se@cret@example.org/simple", "https://***@example.org/simple"),
        ("https://user:sec/ret@example.org/simple", "https://***@example.org/simple"),
        ("https://example.org/simple?token=secret&x=secret", "https://example.org/simple?token=***&x=***"),
        ("git+ssh://git:secret@example.org/a.git@v1", "git+ssh://***@example.org/a.git@v1"),
        ("http://[::1]:3128/", "http://[::1]:3128/"),
        ("file:///srv/wheels", "file:///srv/wheels"),
        ("/srv/wheels", "/srv/wheels"),
        ("", ""),
    ],
)
def test_shows_the_place_and_never_the_credentials(url: str, shown: str) -> None:
    assert redact_url(url) == shown
    assert "secret" not in redact_url(url)


def test_redacting_twice_changes_nothing() -> None:
    once = redact_url("https://user:secret@example.org/simple?token=secret")
    assert redact_url(once) == once


def test_addresses_inside_a_text() -> None:
    assert (
        redact_text("cannot reach 'https://u:secret@example.org/simple'!")
        == "cannot reach 'https://***@example.org/simple'!"
    )


def test_the_model_keeps_the_real_address_and_shows_it_nowhere() -> None:
    real = "https://user:secret@example.org/simple"
    pip = PipConfiguration(
        where="here",
        index_url=real,
        extra_index_urls=(real,),
        find_links=(real,),
        constraints=(real,),
        proxy=real,
    )
    assert pip.index_url == real
    assert pip.extra_index_urls == (real,)
    assert pip.model_dump()["find_links"] == (real,)
    for shown in (pip.model_dump_json(), repr(pip), str(pip)):
        assert "secret" not in shown
        assert "example.org" in shown
