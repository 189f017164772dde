"""Where sources disagree."""

from __future__ import annotations

from pydantic import Field

from ascendenv.compatibility.rows.base import Row


class Contradiction(Row):
    """A source that says otherwise than the row that the matrix goes by.

    ``about`` names the subject as ``ascendenv matrix show`` takes it; ``source`` is the one that disagrees.
    """

    about: str
    topic: str
    here: str = Field(description="what the matrix goes by")
    elsewhere: str = Field(description="what the other source says")
