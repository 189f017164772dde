"""Tensors in private formats on the simulated CANN."""

from __future__ import annotations

from e2e.fused import Simulated, check, run


def test_private_formats_keep_their_values(simulated: Simulated) -> None:
    check(
        simulated,
        """
torch.npu.config.allow_internal_format = True
for dtype in HALVES:
    for shape in ((32, 48), (30, 20), (3, 17, 33)):
        x = given(*shape, dtype=dtype)
        fractal = torch_npu.npu_format_cast(x.npu(), 29)
        same("format", torch.tensor(torch_npu.get_npu_format(fractal)), torch.tensor(29))
        same("values", fractal, x)
        same("doubled", fractal * 2, x.double() * 2)
        same("back", torch_npu.npu_format_cast(fractal, 2), x)
    x, w, b = given(5, 32, dtype=dtype), given(32, 48, dtype=dtype), given(48, dtype=dtype)
    own = torch_npu.npu_format_cast(w.npu(), 29)
    bound = 8 * TOLERANCE[dtype]
    same("product", x.npu() @ own, x.double() @ w.double(), bound)
    same("with bias", torch.addmm(b.npu(), x.npu(), own), b.double() + x.double() @ w.double(), bound)
    turned = torch_npu.npu_format_cast(w.t().contiguous().npu(), 29)
    same("linear", F.linear(x.npu(), turned, b.npu()), b.double() + x.double() @ w.double(), bound)
""",
        compared=2 * (3 * 4 + 3),
    )


def test_a_format_that_is_not_known_is_refused(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
refuses("format", lambda: torch_npu.npu_format_cast(torch.ones(4, 4).npu(), 99))
""",
    )
    assert seen["refused"]["format"]
