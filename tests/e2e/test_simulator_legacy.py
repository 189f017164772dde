"""Operators of the older aclop interface, which torch_npu still calls, compared with the CPU."""

from __future__ import annotations

from e2e.main_job import Simulated


def passes(simulated: Simulated, source: str) -> None:
    """`source` checks itself."""
    done = simulated.python("import torch, torch_npu\n" + source)
    assert done.returncode == 0, done.stderr


def test_formats_of_one_layout_are_converted(simulated: Simulated) -> None:
    passes(
        simulated,
        """
for shape in ((5, 5), (2, 3, 4, 5)):
    tensor = torch.randn(shape)
    for number in (0, 2, 3, 29):  # without internal formats, the last two stand for a plain one
        assert torch_npu.npu_format_cast(tensor.npu(), number).cpu().equal(tensor)
""",
    )


def test_a_pad_takes_the_first_dimension_first(simulated: Simulated) -> None:
    passes(
        simulated,
        """
tensor = torch.randn(2, 3)
padded = torch_npu.npu_pad(tensor.npu(), (1, 2, 0, 3))
assert padded.cpu().equal(torch.nn.functional.pad(tensor, (0, 3, 1, 2)))
""",
    )
