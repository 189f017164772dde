"""The formats of the matrix commands."""

from __future__ import annotations

import io

import pytest
from packaging.version import Version
from pydantic import BaseModel
from rich.console import Console

from ascendenv import toml
from ascendenv.compatibility.describe import show
from ascendenv.compatibility.listing import Axes, list_rows
from ascendenv.compatibility.load import load
from ascendenv.compatibility.questions import question
from ascendenv.compatibility.subjects import parse_subjects
from ascendenv.compatibility.why import why
from ascendenv.options import MatrixFormat
from ascendenv.render.documents import print_document, to_markdown, to_toml
from ascendenv.render.text import render
from ascendenv.result import Result
from ascendenv.versions import CannVersion

MATRIX = load()


def as_text(payload: BaseModel) -> str:
    stream = io.StringIO()
    Console(file=stream, width=160, highlight=False, markup=False).print(render(payload))
    return stream.getvalue()


def test_rows_in_toml_are_those_of_the_matrix() -> None:
    listed = list_rows(MATRIX, "trains", Axes())
    rows = toml.loads(to_toml(listed))["rows"]
    assert [row["train"] for row in rows] == [train.train for train in MATRIX.trains]
    assert rows[0]["source"] == MATRIX.trains[0].source


def test_releases_in_toml() -> None:
    listed = list_rows(MATRIX, "torch_npu", Axes(torch=Version("2.13.0")))
    document = toml.loads(to_toml(listed))
    assert document["releases"][0]["pythons"]["x86_64"][0] == "3.10"
    assert "cann" not in document["releases"][1]  # the preview, whose CANN is not stated


def test_markdown_has_a_table_and_the_sources() -> None:
    lines = to_markdown(list_rows(MATRIX, "drivers", Axes(cann=CannVersion("9.1.0")))).splitlines()
    assert lines[0] == "- table: drivers"
    assert lines[2] == "| cann | minimum | evidence | paired | works_with | excluded | source |"
    assert lines[3] == "|---|---|---|---|---|---|---|"
    assert lines[4].startswith("| 9.1.X | 25.2.0 | official |")


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    class Payload(BaseModel):
        rows: tuple[dict[str, str], ...] = ({"name": "a|b"},)

    assert to_markdown(Payload()).splitlines()[2] == "| a\\|b |"


def test_an_entry_in_every_format() -> None:
    entry = show(MATRIX, "chip 950")
    assert toml.loads(to_toml(entry))["subject"] == "chip 950"
    assert "| PCI device | 0xd806 | official |" in to_markdown(entry)
    text = as_text(entry)
    assert text.startswith("chip 950\n")
    assert "0xd806" in text
    assert text.count("\n  operator package") == 1  # a key stands once before its values


def test_an_explanation_as_text() -> None:
    asked = question(MATRIX, parse_subjects(MATRIX, "cann==9.1.0 torch==2.6.0"))
    lines = as_text(why(MATRIX, asked)).splitlines()
    assert lines[0].startswith("not released together: CANN 9.1.0 and torch 2.6.0")
    assert "what works:" in [line.rstrip() for line in lines]
    assert "      ascendenv resolve --cann 9.1.0 --torch 2.12.0" in [line.rstrip() for line in lines]
    held = as_text(why(MATRIX, question(MATRIX, parse_subjects(MATRIX, "cann 9.1.0"))))
    assert "what works" not in held


def test_rows_as_text_leave_the_sources_to_other_formats() -> None:
    text = as_text(list_rows(MATRIX, "ops-mixing", Axes()))
    assert text.split("\n")[0].split() == ["ops", "toolkit", "allowed", "evidence"]
    assert " yes " in text
    assert "release notes" not in text
    assert "310B4" in as_text(list_rows(MATRIX, "chips", Axes()))


@pytest.mark.parametrize(
    ("table", "said"), [("trains", "no row of trains"), ("torch-npu", "no release fits")]
)
def test_nothing_that_fits_is_said(table: str, said: str) -> None:
    assert said in as_text(list_rows(MATRIX, table, Axes(torch=Version("9.9.9"))))


@pytest.mark.parametrize("output", MatrixFormat)
def test_every_format_is_printed(output: MatrixFormat, capsys: pytest.CaptureFixture[str]) -> None:
    result: Result[BaseModel] = Result("ascendenv/matrix-show/1", show(MATRIX, "train 26.1.0"))
    print_document(result, output)
    printed = capsys.readouterr().out
    assert "26.1.0" in printed
    assert printed.endswith("\n")
