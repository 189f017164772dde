"""Wrong calls of operators: the first phase refuses them with a device's code, and names the operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from e2e.main_job import Simulated
from e2e.test_simulator_operators import run

# Operator, arguments, and what the message says. `f` are floats and `i` integers of a shape.
MISTAKES = [
    ("aclnnAbs", "f(2, 3), f(3)", "the result has shape [2, 3], the output tensor [3]"),
    ("aclnnBitwiseNot", "f(2), f(2)", "not implemented for 'Float'"),
    ("aclnnExp", "i(2), i(2)", "result type Float can't be cast to the desired output type Long"),
    ("aclnnAdd", "f(2, 3), f(4), Scalar(1), f(2, 3)", "must match the size"),
    ("aclnnInplaceAdd", "f(3), f(2, 3), Scalar(1)", "the result has shape [2, 3], the output tensor [3]"),
    ("aclnnBitwiseAndTensor", "f(2), f(2), f(2)", "not implemented for 'Float'"),
    ("aclnnInplaceMuls", "i(2), Scalar(0.5)", "can't be cast to the desired output type Long"),
    ("aclnnReduceSum", "f(2, 3), (5,), False, torch.float32, f(2)", "Dimension out of range"),
    ("aclnnAmax", "f(2, 3), (1,), True, f(2)", "the result has shape [2, 1], the output tensor [2]"),
    ("aclnnArgMax", "f(2, 3), 0, False, i(2)", "the result has shape [3], the output tensor [2]"),
    ("aclnnMean", "i(2, 3), (1,), False, torch.int64, i(2)", "mean"),
    ("aclnnSoftmax", "f(2, 3), 4, f(2, 3)", "Dimension out of range"),
    ("aclnnGelu", "i(2), i(2)", "not implemented for 'Long'"),
    ("aclnnSilu", "f(2), f(3)", "the result has shape [2], the output tensor [3]"),
    ("aclnnGather", "f(2, 3), 0, f(2, 3), f(2, 3)", "Expected dtype int32/int64 for index"),
    ("aclnnGather", "f(2, 3), 7, i(2, 3), f(2, 3)", "Dimension out of range"),
    ("aclnnScatterAdd", "f(2, 3), 0, i(2, 3), f(1, 3), f(2, 3)", "no larger size than src"),
    ("aclnnScatter", "f(2, 3), 0, i(2, 3), f(2, 3), 5, f(2, 3)", "scatter mode 5"),
    ("aclnnIndexSelect", "f(2, 3), 0, i(4), f(2, 3)", "the result has shape [4, 3]"),
    ("aclnnIndexAdd", "f(2, 3), 0, i(4), f(3, 3), Scalar(1), f(2, 3)", "should be equal to"),
    ("aclnnEmbedding", "f(5, 3), f(2), f(2, 3)", "the index has dtype Float"),
    ("aclnnMm", "f(2, 3), f(4, 5), f(2, 5), small", "cannot be multiplied"),
    ("aclnnMm", "f(2, 3), i(3, 5), f(2, 5), small", "the matrices have dtypes Float and Long"),
    ("aclnnBatchMatMul", "f(2, 3, 4), f(3, 4, 5), f(2, 3, 5), small", "cannot be multiplied"),
    ("aclnnAddmm", "f(9), f(2, 3), f(3, 5), Scalar(1), Scalar(1), f(2, 5), small", "must match"),
    ("aclnnDot", "f(3), f(4), f()", "have no product"),
    (
        "aclnnConvolution",
        "f(1, 3, 8, 8), f(4, 2, 3, 3), None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1, f(1, 4, 6, 6), small",
        "the input has 3 channels, the weight is for 2",
    ),
    (
        "aclnnConvolution",
        "f(1, 2, 8, 8), f(4, 2, 3, 3), None, (0, 1), (0, 0), (1, 1), False, (0, 0), 1, f(1, 4, 6, 6), small",
        "the stride is [0, 1]",
    ),
    (
        "aclnnAvgPool2d",
        "f(1, 2, 8, 8), (2, 2), (2, 2), (3, 3), False, True, 0, small, f(1, 2, 4, 4)",
        "pad should be at most half of effective kernel size",
    ),
    (
        "aclnnMaxPool2dWithIndices",
        "f(1, 2, 8, 8), (2, 2), (2, 2), (0, 0), (1, 1), False, f(1, 2, 3, 3), i(1, 2, 3, 3)",
        "the result has shape [1, 2, 4, 4]",
    ),
    ("aclnnAdaptiveAvgPool2d", "f(2, 8, 8), (2, 2), f(2, 3, 3)", "the result has shape [2, 2, 2]"),
    ("aclnnTopk", "f(2, 3), 4, 1, True, True, f(2, 4), i(2, 4)", "k out of range"),
    ("aclnnCat", "[f(2, 3), f(2, 4)], 0, f(4, 3)", "cannot be joined along dimension 0"),
    ("aclnnInplaceUniform", "f(3), 2.0, 1.0, 0, 0", "found from=2 > to=1"),
    ("aclnnInplaceRandom", "i(3), 5, 5, 0, 0", "from=5 >= to=5"),
    ("aclnnInplaceBernoulli", "f(3), Scalar(2.0), 0, 0", "p=2"),
    ("aclnnInplaceNormal", "i(3), single(0), single(1), 0, 0", "not implemented for 'Long'"),
    ("aclnnMultinomial", "f(4), 5, False, 0, 0, i(5)", "cannot take 5 samples of 4 categories"),
    ("aclnnRandperm", "4, 0, 0, i(5)", "the result has shape [4], the output tensor [5]"),
    ("aclnnDropoutV3Grad", "f(99), u(2), 2.0, f(99)", "a mask of 2 bytes is too short for 99 elements"),
    ("aclnnMseLoss", "f(2, 3), f(4), 1, f()", "must match the size"),
    ("aclnnMseLoss", "f(2, 3), f(2, 3), 0, f()", "the result has shape [2, 3], the output tensor []"),
    ("aclnnKlDiv", "f(2), f(2), 3, False, f()", "the reduction 3 is neither"),
    ("aclnnNLLLoss", "f(2, 3), i(4), None, 1, -100, f(), f()", "size mismatch"),
    ("aclnnNLLLoss", "f(2, 3), f(2), None, 1, -100, f(), f()", "the classes have dtype Float"),
    (
        "aclnnCtcLoss",
        "f(5, 1, 3), i(1, 2), (6,), (2,), 0, False, f(1), f(1, 5, 8)",
        "a sequence of 6 of 5 steps",
    ),
    ("aclnnLayerNorm", "f(2, 3), (4,), None, None, 1e-5, f(2, 3), None, None", "cannot be normalised over"),
    (
        "aclnnBatchNorm",
        "f(2, 3, 4), f(4), None, None, None, True, 0.1, 1e-5, f(2, 3, 4), None, None",
        "a tensor of shape [4] was given for one of shape [3]",
    ),
    ("aclnnUpsampleNearest2d", "f(1, 2, 3, 3), (5,), f(1, 2, 5, 5)", "a size of [5] for an input of"),
    ("aclnnUpsampleNearest2d", "f(1, 2, 3, 3), (5, 5), f(1, 2, 5, 6)", "the result has shape [1, 2, 5, 5]"),
    (
        "aclnnReflectionPad1d",
        "f(2, 3), (3, 0), f(2, 6)",
        "a padding of 3 cannot be reflected",
    ),
    ("aclnnConstantPadNd", "f(2, 3), (1, -5), Scalar(0), f(2, 0)", "nothing is left of shape [2, 3]"),
    ("aclnnInverse", "f(2, 3), f(2, 3)", "square matrices"),
    ("aclnnSvd", "f(2, 3), False, True, f(3), f(2, 2), f(3, 2)", "the result has shape [2]"),
    ("aclnnTriangularSolve", "f(3, 1), f(2, 2), True, False, False, f(2, 1), f(2, 2)", "a system of shape"),
    ("aclnnIndex", "f(4, 5), [i(3)], f(3, 4)", "the result has shape [3, 5], the output tensor [3, 4]"),
    ("aclnnIndex", "f(4), [i(2), i(2)], f(2)", "2 indices for a tensor of shape [4]"),
    ("aclnnIndexPutImpl", "f(4, 5), [i(3)], f(3, 4), False, False", "must match the size"),
    ("aclnnMatmul", "f(2, 3), f(4), f(2), small", "have no product"),
]
MISSING = [
    ("aclnnAbs", "None, f(2)"),
    ("aclnnAdd", "f(2), f(2), None, f(2)"),
    ("aclnnMm", "f(2, 3), f(3, 4), None, small"),
    ("aclnnCat", "[f(2), f(3)], 0, None"),
]
PROGRAM = """
import ctypes
from e2e.programs.conformity.direct import Scalar, call
recent = ctypes.CDLL("libascendcl.so").aclGetRecentErrMsg
recent.restype = ctypes.c_char_p
small, single = ctypes.c_int8(0), ctypes.c_float
def f(*shape): return torch.ones(shape, device="npu")
def i(*shape): return torch.ones(shape, dtype=torch.int64, device="npu")
def u(*shape): return torch.ones(shape, dtype=torch.uint8, device="npu")
def told(operator, arguments):
    status = call(operator, *eval(f"({arguments},)"))
    return [status, (recent() or b"").decode()]
"""


@pytest.fixture(scope="module")
def told(simulated: Simulated) -> dict[str, Any]:
    """Per call the status of its first phase and the message; one process for all."""
    calls = [(operator, arguments) for operator, arguments, *_ in (*MISTAKES, *MISSING)]
    return run(
        simulated,
        f"{PROGRAM}\nreport(**{{operator + given: told(operator, given) for operator, given in {calls!r}}},"
        " works=f(3).sum().item())",
        PYTHONPATH=str(Path(__file__).parents[1]),
    )


@pytest.mark.parametrize(("operator", "arguments", "message"), MISTAKES)
def test_a_wrong_argument_is_refused(
    told: dict[str, Any], operator: str, arguments: str, message: str
) -> None:
    status, text = told[operator + arguments]
    assert status == 161002
    assert f"{operator}: " in text
    assert message in text


@pytest.mark.parametrize(("operator", "arguments"), MISSING)
def test_a_missing_argument_has_a_code_of_its_own(
    told: dict[str, Any], operator: str, arguments: str
) -> None:
    status, text = told[operator + arguments]
    assert status == 161001
    assert f"{operator}: a required argument is nullptr" in text


def test_a_refusal_harms_nothing(told: dict[str, Any]) -> None:
    assert told["works"] == 3


# With TASK_QUEUE_ENABLE=2 torch_npu calls both phases on the thread of its task queue. What fails there,
# unless a stream fails with it, is never heard of again, and torch_npu waits for ever for what follows.
ON_THE_QUEUE = """
import faulthandler, os
faulthandler.dump_traceback_later(300, exit=True)
torch.npu.set_device(0)
one, other = torch.ones(1, 2, 3).npu(), torch.ones(1, 4, 5).npu()
parts, counts = torch.ones(8).npu(), torch.ones(256, dtype=torch.int32).npu()
torch.npu.synchronize()
def waits_for_an_event():
    event = torch.npu.Event()
    event.record()
    event.synchronize()
CALL
later = [waits_for_an_event, torch.npu.synchronize, lambda: one.sum().item()]
report(later=[failure(call) for call in later])
os._exit(0)  # a failed stream says so again at exit
"""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("torch.bmm(one, other)", "aclnnBatchMatMul: "),
        (
            "torch_npu.npu_hans_decode(parts, parts, parts, counts, out=torch.ones(4).npu())",
            "aclnnHansDecode is not implemented by the simulated CANN",
        ),
    ],
    ids=["wrong", "missing"],
)
def test_a_refusal_on_the_task_queue_fails_the_stream(simulated: Simulated, call: str, message: str) -> None:
    seen = run(simulated, ON_THE_QUEUE.replace("CALL", call), TASK_QUEUE_ENABLE="2")
    for failure in seen["later"]:
        assert message in failure
