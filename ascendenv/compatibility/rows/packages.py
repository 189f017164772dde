"""How CANN is delivered: channels, file names, folders and what is known of single files."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from ascendenv.compatibility.rows.base import CannText, HttpsUrl, Row, Sha256
from ascendenv.compatibility.rows.python import ForCann
from ascendenv.vocabulary import Arch, CannComponent, ChipFamily, PackageKind


class PackageChannel(Row):
    """Where packages of one kind come from. ``setup`` are the commands before the first installation."""

    kind: PackageKind
    url: HttpsUrl
    cann_since: CannText | None = None
    setup: tuple[str, ...] = ()
    installs_to: str = ""
    request_headers: Mapping[str, str] = {}


class PackageName(ForCann):
    """How one component is called on one channel: ``name`` holds {version}, {arch} and {chip} in braces.

    ``chips`` gives each chip family its spelling in the name, ``archs`` the architectures theirs where it
    is not the usual one.
    """

    component: CannComponent
    kind: PackageKind
    name: str
    chips: Mapping[ChipFamily, str] = {}
    archs: Mapping[Arch, str] = {}


class PackageFolder(Row):
    """The folder of one CANN version under the channel's URL, and the files that were seen named in it.

    Other files of that version are expected there because all versions have them, and said to be so.
    """

    cann: CannText
    folder: str
    components: tuple[CannComponent, ...] = ()
    chips: tuple[ChipFamily, ...] = Field((), description="whose operator packages were seen")


class PackageFile(Row):
    """What is known of one file: its hash, its size in bytes, the driver that it asks for."""

    file: str
    sha256: Sha256 | None = None
    size: int | None = Field(None, gt=0)
