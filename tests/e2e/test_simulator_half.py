"""Operators that accumulate compute half precision in float and round once, as the device's units do."""

from __future__ import annotations

from e2e.fused import Simulated, check

# Twice the distance from a number to the nearest one in half precision, and what float adds to it.
ROUNDED_ONCE = """
def rounded_once(name, result, expected):
    global compared
    compared += 1
    expected = expected.detach()
    step = torch.finfo(result.dtype).eps * expected.abs().clamp_min(torch.finfo(result.dtype).smallest_normal)
    difference = (result.detach().cpu().double() - expected).abs()
    bound = step / 2 + 1e-5 * expected.abs().mean()
    if result.shape != expected.shape or not bool((difference <= bound).all()):
        wrong.append(f"{name} {result.dtype}: differs by {float((difference / bound).max())} of the bound")


def with_gradients(name, function, *given_tensors):
    ours, theirs = [leaf(t, "npu") for t in given_tensors], [leaf(t, "cpu") for t in given_tensors]
    result, expected = function(*ours), function(*theirs)
    rounded_once(name, result, expected)
    grad = given(*expected.shape, dtype=result.dtype)
    result.backward(grad.npu())
    expected.backward(grad.double())
    for place, (own, their) in enumerate(zip(ours, theirs)):
        rounded_once(f"{name}, gradient {place}", own.grad, their.grad)


"""


def test_products_are_rounded_once(simulated: Simulated) -> None:
    check(
        simulated,
        ROUNDED_ONCE
        + """
for dtype in HALVES:
    a, b, c = given(40, 300, dtype=dtype), given(300, 50, dtype=dtype), given(40, 50, dtype=dtype)
    batch, other = given(3, 40, 300, dtype=dtype), given(3, 300, 50, dtype=dtype)
    row, long = given(50, dtype=dtype), given(300, dtype=dtype)
    for name, function, operands in (
        ("mm", torch.mm, (a, b)),
        ("matmul", torch.matmul, (batch, b)),
        ("bmm", torch.bmm, (batch, other)),
        ("mv", torch.mv, (a, long)),
        ("dot", torch.dot, (long, a[0].contiguous())),
        ("addmm", lambda c, a, b: torch.addmm(c, a, b, beta=0.3, alpha=0.7), (c, a, b)),
        ("addmv", lambda *t: torch.addmv(*t, beta=0.3, alpha=0.7), (a[:, 0].contiguous(), a, long)),
        ("linear", F.linear, (a, b.t(), row)),
        ("baddbmm", lambda *t: torch.baddbmm(*t, beta=0.3, alpha=0.7), (c, batch, other)),
        ("addbmm", lambda *t: torch.addbmm(*t, beta=0.3, alpha=0.7), (c, batch, other)),
    ):
        rounded_once(name, function(*(t.npu() for t in operands)), function(*(t.double() for t in operands)))
""",
        compared=2 * 10,
    )


def test_convolutions_are_rounded_once(simulated: Simulated) -> None:
    check(
        simulated,
        ROUNDED_ONCE
        + """
for dtype in HALVES:
    image, kernel = given(2, 6, 9, 9, dtype=dtype), given(4, 6, 3, 3, dtype=dtype)
    bias = given(4, dtype=dtype)
    volume, cube = given(2, 6, 5, 5, 5, dtype=dtype), given(4, 6, 3, 3, 3, dtype=dtype)
    steps, taps = given(7, 2, 6, dtype=dtype), given(3, 6, 4, dtype=dtype)
    with_gradients("conv1d", F.conv1d, image[:, :, 0], kernel[:, :, 0], bias)
    with_gradients("conv2d", F.conv2d, image, kernel, bias)
    with_gradients("conv3d", F.conv3d, volume, cube, bias)
    with_gradients("groups", lambda *t: F.conv2d(*t, groups=2), image, given(4, 3, 3, 3, dtype=dtype), bias)
    with_gradients("depthwise", lambda *t: F.conv2d(*t, groups=6), image, given(6, 1, 3, 3, dtype=dtype))
    with_gradients("transposed", F.conv_transpose2d, image, kernel.transpose(0, 1).contiguous(), bias)
    with_gradients("transposed 3d", F.conv_transpose3d, volume, cube.transpose(0, 1).contiguous(), bias)
    with_gradients("time first", lambda *t: torch.conv_tbc(*t, 1), steps, taps, bias)
""",
        compared=2 * (7 * 4 + 3),
    )
