"""NPU chips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ascendenv.compatibility.rows.base import CannText, HexByte, Row
from ascendenv.vocabulary import ChipFamily


class Chip(Row):
    """One NPU chip family. ``also_called`` holds the names that people use, such as 910C for an A3."""

    family: ChipFamily
    title: str
    socs: tuple[str, ...] = Field(min_length=1)
    npu_smi_names: tuple[str, ...] = ()
    also_called: tuple[str, ...] = ()
    pci_device: Annotated[str, Field(pattern=r"^0x[0-9a-f]{4}$")] | None = None
    products: tuple[str, ...] = ()
    npu_arch: str | None = Field(None, description="CANN's number for the core's generation")
    chips_per_card: tuple[int, ...] = ()
    cann_since: CannText | None = None
    first_train: str | None = Field(
        None, description="first torch_npu train that knows the family; absent = none does"
    )
    soc_first_train: Mapping[str, str] = Field(
        {}, description="SoCs that torch_npu learned later than the rest of the family"
    )
    soc_versions: Mapping[str, int] = Field(
        {}, description="torch_npu's number of each SoC, by a name or a pattern of names"
    )


class Soc(Row):
    """What one SoC has, as CANN's own platform file of it states."""

    soc: str
    cube_cores: int = Field(gt=0)
    vector_cores: int = Field(ge=0)
    l2_mib: int = Field(gt=0)
    memory_mib: int | None = Field(None, gt=0, description="what the platform file states, if it does")
    cann_since: CannText | None = Field(None, description="the first CANN that has its file, if known")


class Boards(Row):
    """The board numbers of one chip family, by number.

    A number means different boards in different families: it says something only beside the PCI device.
    """

    family: ChipFamily
    boards: Mapping[HexByte, str] = Field(min_length=1)
