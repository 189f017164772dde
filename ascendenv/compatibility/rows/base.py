"""What all rows share, and the kinds of text that their columns hold."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ascendenv.versions import CannVersion, HdkVersion
from ascendenv.vocabulary import Evidence


def _parses_as(
    parser: type[Version | CannVersion | HdkVersion | Requirement | SpecifierSet],
) -> AfterValidator:
    parse = cache(parser)  # a matrix says the same few versions thousands of times

    def check(text: str) -> str:
        parse(text)
        return text

    return AfterValidator(check)


PackageVersion = Annotated[str, _parses_as(Version)]
CannText = Annotated[str, _parses_as(CannVersion)]
HdkText = Annotated[str, _parses_as(HdkVersion)]
RequirementText = Annotated[str, _parses_as(Requirement)]
SpecifierText = Annotated[str, _parses_as(SpecifierSet)]
PythonVersion = Annotated[str, Field(pattern=r"^3\.\d+$")]


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
HttpsUrl = Annotated[str, Field(pattern=r"^https://")]
HexByte = Annotated[str, Field(pattern=r"^0x[0-9a-f]{2,4}$")]


class Columns(BaseModel):
    """Columns that no row may have beyond its own; they are understood when a table is first read."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Row(Columns):
    """One fact, with where it is known from and how well."""

    evidence: Evidence
    source: str = Field(min_length=1, description="where the fact is written down")
    note: str = ""
