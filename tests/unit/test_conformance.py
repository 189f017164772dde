"""What the conformance script counts and how it shows it; how it runs is shown in tests/integration."""

from pathlib import Path

import pytest
from torch_npu_suite.files import find
from torch_npu_suite.page import page
from torch_npu_suite.report import changes
from torch_npu_suite.results import TOP_LEVEL, CaseResult, FileResult, Run, Subject

from ascendenv.vocabulary import Outcome

SUBJECT = Subject(commit="c0ffee", versions={"torch": "2.13.0"})


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    """The folder of the tests in a checkout."""
    constants = tmp_path / "ci/access_control/constants.py"
    constants.parent.mkdir(parents=True)
    constants.write_text("SLOW_TEST_BLOCKLIST = ['test_ops']\n")
    (tmp_path / "test/jit").mkdir(parents=True)
    return tmp_path / "test"


def test_files_that_do_not_count_are_named(tests: Path) -> None:
    (tests / "test_ops.py").write_text("")
    (tests / "test_own.py").write_text("import jit\nfrom jit.test_there import T\n")
    (tests / "test_jit.py").write_text("from jit.test_upstream import T\n")
    (tests / "test_by_another.py").write_text("from test_jit import JitTestCase\n")
    (tests / "jit/test_there.py").write_text("")
    assert find(tests, TOP_LEVEL) == (
        ["test_own.py"],
        {
            "test_ops.py": "torch_npu's own ordinary CI leaves it out",
            "test_jit.py": "needs jit/test_upstream.py of upstream PyTorch's tests",
            "test_by_another.py": "needs jit/test_upstream.py of upstream PyTorch's tests",
        },
    )


def test_two_runs_are_compared_test_by_test() -> None:
    def of(**tests: Outcome) -> Run:
        found = {name: CaseResult(outcome=outcome) for name, outcome in tests.items()}
        return Run(subject=SUBJECT, files={"nn/test_it.py": FileResult(seconds=1, tests=found)})

    old = of(test_a=Outcome.PASSED, test_b=Outcome.PASSED, test_c=Outcome.FAILED, test_d=Outcome.FAILED)
    new = of(test_a=Outcome.PASSED, test_b=Outcome.FAILED, test_c=Outcome.PASSED, test_d=Outcome.NOT_RUN)
    table = changes(old, new)
    columns = [list(column.cells) for column in table.columns]
    assert list(zip(*columns, strict=True)) == [
        ("nn/test_it.py::test_b", "passed", "failed"),
        ("nn/test_it.py::test_c", "failed", "passed"),
    ]


def test_the_page_counts_by_folder_and_names_reasons() -> None:
    refusal = "RuntimeError: [simulated CANN] aclnnFoo is not implemented by the simulated CANN"
    tests = {str(number): CaseResult(outcome=Outcome.PASSED) for number in range(3)}
    tests["refused"] = CaseResult(outcome=Outcome.FAILED, reason=refusal)
    tests["skipped"] = CaseResult(outcome=Outcome.SKIPPED)
    files = {"nn/test_it.py": FileResult(seconds=1, tests=tests)}
    text = page(Run(subject=SUBJECT, files=files, left_out={"test_ops.py": "too long"}))
    assert "| Ascend/pytorch | c0ffee |" in text
    assert "| nn | 1 | 3 | 1 | 1 | 75.0% |" in text
    assert "| 1 | operator refused: aclnnFoo | `nn/test_it.py::refused` |" in text
    assert "| 1 | too long |" in text
