"""The options that several commands share, each declared once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Format(str, Enum):
    """How results are printed."""

    TEXT = "text"
    JSON = "json"


class PlanFormat(str, Enum):
    """How a plan is printed: for people, for programs, or as a file that installers read."""

    TEXT = "text"
    JSON = "json"
    PYLOCK = "pylock"
    REQUIREMENTS = "requirements"
    CONSTRAINTS = "constraints"


class MatrixFormat(str, Enum):
    """How the matrix is printed."""

    TEXT = "text"
    JSON = "json"
    TOML = "toml"
    MARKDOWN = "markdown"


class Shell(str, Enum):
    """What ``ascendenv env`` prints for."""

    BASH = "bash"
    FISH = "fish"
    JSON = "json"


Cann = Annotated[
    str | None,
    typer.Option("--cann", help="CANN version, or a range such as '>=8.5'.", show_default=False),
]
Torch = Annotated[
    str | None,
    typer.Option("--torch", help="torch version, or a range such as '>=2.9,<2.12'.", show_default=False),
]
TorchNpu = Annotated[
    str | None,
    typer.Option("--torch-npu", help="torch_npu version, or a range such as 2.7.1.*.", show_default=False),
]
Arch = Annotated[str | None, typer.Option("--arch", help="aarch64 or x86_64.", show_default="this machine's")]
Python = Annotated[
    str | None, typer.Option("--python", help="Python version, such as 3.11.", show_default="what works here")
]
PlannedPython = Annotated[
    str | None,
    typer.Option("--python", help="Python version, such as 3.11, or `any`.", show_default="what works here"),
]
Glibc = Annotated[
    str | None,
    typer.Option(
        "--glibc",
        help="Oldest glibc to plan for, such as 2.28.",
        show_default="this machine's, 2.28 for another",
    ),
]
Chip = Annotated[
    str | None,
    typer.Option(
        "--chip",
        "--soc",
        help="Chip family or SoC, such as 910b or Ascend910B3.",
        show_default="what is here",
    ),
]
SimulatedChip = Annotated[
    str | None,
    typer.Option(
        "--chip",
        "--soc",
        help="Chip family or SoC to simulate, such as 910b or Ascend910B3.",
        show_default="910b",
    ),
]
Devices = Annotated[
    int | None, typer.Option("--devices", help="How many NPUs to simulate.", show_default="2")
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", help="Memory of each simulated NPU, such as 64GiB.", show_default="8GiB"),
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="PACKAGE",
        help="A package on top, such as triton-ascend or 'numpy<2'; may be repeated.",
        show_default=False,
    ),
]
Driver = Annotated[
    str | None,
    typer.Option(
        "--driver", help="NPU driver to plan for, such as 25.5.1, or `any`.", show_default="this machine's"
    ),
]
Mirror = Annotated[
    str | None,
    typer.Option(
        "--mirror",
        metavar="official|cn|URL",
        help="Where packages come from: the official indexes, mirrors in China, or an index of your own.",
        show_default="as pip is configured",
    ),
]
AllowDeclared = Annotated[
    bool,
    typer.Option(
        "--allow-declared", help="Accept what the vendor declares compatible but did not release together."
    ),
]
AllowReported = Annotated[
    bool, typer.Option("--allow-reported", help="Accept what a field report says to fail.")
]
Env = Annotated[
    Path | None,
    typer.Option(
        "--env", help="The environment's directory.", show_default="the active one, else a managed one"
    ),
]
Command = Annotated[
    list[str], typer.Argument(metavar="-- COMMAND...", help="What to run.", show_default=False)
]
SimulatedVersion = Annotated[
    str | None,
    typer.Option(
        "--cann", help="CANN version to stand in for.", show_default="the one released with torch_npu"
    ),
]
TorchEnvironment = Annotated[
    Path | None,
    typer.Option("--env", help="The environment with the torch.", show_default="the one at hand"),
]
TorchOfEnvironment = Annotated[
    str | None,
    typer.Option("--torch", help="Take the environment with this torch version.", show_default=False),
]
OutputPlanFormat = Annotated[PlanFormat, typer.Option("--format", help="How to print the plan.")]
OutputFormat = Annotated[Format, typer.Option("--format", help="How to print the result.")]
MatrixOutput = Annotated[MatrixFormat, typer.Option("--format", help="How to print the result.")]
Offline = Annotated[bool, typer.Option("--offline", help="Use no network.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show more.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show only the result.")]
