"""Writes OPERATORS.md: what the simulated CANN does with each operator that torch_npu may look up.

    python device_runtime/simulator/operator_table.py $ASCEND_HOME_PATH [--check]

The tree's list of operators was read back from the library that implements them. With ``--check`` nothing is
written, and the exit code says whether the table is that of the build.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src" / "operators" / "aten"
TABLE = HERE / "OPERATORS.md"

HEADER = """# Operators of the simulated CANN

Generated from a build by `python device_runtime/simulator/operator_table.py $ASCEND_HOME_PATH`.

Of the {total} names that the supported versions of torch_npu look up, {implemented} are implemented, in
`src/operators/aten/`: by one or two of PyTorch's kernels, which are named, or by code of our own over more of
them. The others are refused by name in the first phase of a call. What an implementation leaves out, such as
an optional argument or a mode, it refuses as well.

| operator | implemented by | in |
|---|---|---|
"""

_FEW = 2
# What all sources share computes nothing of a result, nor do these functions of ATen.
_SHARED = [
    SOURCES / f"{name}.h"
    for name in (
        "arguments",
        "binding",
        "checks",
        "draws",
        "families",
        "loss_reduction",
        "rehearsal",
        "store",
        "tensors",
    )
]
_HELPERS = {
    "maybe_wrap_dim",
    "infer_size",
    "empty",
    "empty_like",
    "zeros",
    "zeros_like",
    "arange",
    "tensor",
    "where",
}
_FUNCTION = re.compile(
    r"^(?:template <[^\n]*>\n)?[a-zA-Z][\w:<>&*,. ]*?[ &*](\w+)\([^;{]*\) \{(?: .*? \}$|\n.*?^\})",
    re.MULTILINE | re.DOTALL,
)
_VALUE = re.compile(r"^(?:template <[^\n]*>\n)?constexpr auto (\w+) =.*?;\n$", re.MULTILINE | re.DOTALL)
# What goes on stands to the right, or closes a brace.
_OPERATOR = re.compile(r"^(?:ACLNN|ACL_OPERATOR)\(\s*(\w+),(.*(?:\n[ }].*)*)", re.MULTILINE)
_CALL = re.compile(r"(?<!::)\b([A-Z][a-z]\w+)(?:<[^<>]*>)?\(")
_KERNEL = re.compile(r"\bat::(?!meta::|native::|detail::)(?!k[A-Z])(_?[a-z]\w*)|[\w\])]\.([a-z]\w*_)\(")


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description="Write the table of operators.")
    parser.add_argument("home", type=Path, help="installed tree")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the table is stale")
    options = parser.parse_args()
    text = table(options.home)
    if not options.check:
        TABLE.write_text(text)
    elif text != TABLE.read_text():
        sys.exit(f"{TABLE} is stale; run: python {Path(__file__).name} {options.home}")


def table(home: Path) -> str:
    """The table of the build that was installed to ``home``."""
    lines = (HERE / "src/operators/names.txt").read_text().splitlines()
    names = sorted(line for line in lines if line.startswith("acl"))
    built = set((home / "share/info/simulator/operators.txt").read_text().split())
    origins = _origins()
    rows = [origins[name].row(name) if name in built else f"| {name} | refused | |" for name in names]
    implemented = len(built & set(names))
    return HEADER.format(total=len(names), implemented=implemented) + "\n".join(rows) + "\n"


@dataclass(frozen=True)
class Origin:
    """Where an operator is implemented, and the kernels of ATen that do it; none if it is composed here."""

    source: str
    kernels: Collection[str]

    def row(self, name: str) -> str:
        """The line of the table."""
        how = ", ".join(f"`at::{kernel}`" for kernel in sorted(self.kernels)) or "own"
        return f"| {name} | {how} | {self.source} |"


def _origins() -> dict[str, Origin]:
    shared = set(_CALL.findall("".join(header.read_text() for header in _SHARED)))
    origins = {}
    for source in sorted(SOURCES.glob("*.cpp")):
        text = source.read_text()
        parts = {match[1]: match[0] for pattern in (_FUNCTION, _VALUE) for match in pattern.finditer(text)}
        for name, statement in _OPERATOR.findall(text):
            whole = _with_parts(statement, parts)
            kernels = {re.sub(r"_(out)?$", "", kernel) for pair in _KERNEL.findall(whole) for kernel in pair}
            kernels -= _HELPERS | {""}
            foreign = set(_CALL.findall(whole)) - shared - parts.keys()
            simple = len(kernels) <= _FEW and not foreign
            full = name if name.startswith("acl") else f"aclnn{name}"
            origins[full] = Origin(source.name, kernels if simple else ())
    return origins


def _with_parts(statement: str, parts: Mapping[str, str]) -> str:
    """The statement and what it calls of its own source, directly or not."""
    called: set[str] = set()
    whole = statement
    while found := (set(re.findall(r"\w+", whole)) & parts.keys()) - called:
        called |= found
        whole += "".join(parts[name] for name in found)
    return whole


if __name__ == "__main__":
    main()
