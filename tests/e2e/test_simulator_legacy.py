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


def test_values_are_moved(simulated: Simulated) -> None:
    passes(
        simulated,
        """
tensor = torch.arange(24.0).view(2, 3, 4)
on_device = tensor.npu()
assert torch_npu.npu_transpose(on_device, (2, 0, 1)).cpu().equal(tensor.permute(2, 0, 1))
strided = torch_npu.npu_stride_copy(on_device, (2, 2), (1, 5), 3)
assert strided.cpu().equal(tensor.as_strided((2, 2), (1, 5), 3))

# To and from memory with gaps.
target, source = torch.zeros(4, 3), torch.arange(12.0).view(3, 4)
torch_npu.npu_view_copy(moved := target.npu().t(), source.npu(), False)
assert moved.cpu().equal(source)
assert tensor.as_strided((2, 2), (12, 2)).npu().cpu().equal(tensor.as_strided((2, 2), (12, 2)))
""",
    )


def test_activations_and_their_gradients(simulated: Simulated) -> None:
    passes(
        simulated,
        """
for there, here in (
    (torch_npu.npu_silu, torch.nn.functional.silu),
    (torch_npu.npu_mish, torch.nn.functional.mish),
):
    tensor = torch.randn(3, 7, requires_grad=True)
    on_device = tensor.detach().npu().requires_grad_()
    result, expected = there(on_device), here(tensor)
    torch.testing.assert_close(result.cpu(), expected)
    weights = torch.randn(3, 7)
    (result * weights.npu()).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(on_device.grad.cpu(), tensor.grad)
""",
    )


def test_dropout_keeps_what_its_mask_says(simulated: Simulated) -> None:
    passes(
        simulated,
        """
tensor = torch.rand(64, 32) + 1
on_device = tensor.npu()

# A bit for each element.
mask = torch_npu.npu_dropout_gen_mask(tensor.shape, p=0.25, dtype=torch.float32, device="npu")
dropped = torch_npu.npu_dropout_do_mask(on_device, mask, 0.25)[0].cpu()
bits = (mask.cpu().view(-1, 1) >> torch.arange(8)) & 1
torch.testing.assert_close(dropped, tensor * bits.flatten()[: tensor.numel()].view_as(tensor) / 0.75)

# A byte for each element, seeded by the device's generator.
def bytes_kept(seed):
    torch.npu.manual_seed(seed)
    dropped, mask = torch_npu._dropout_with_byte_mask(on_device, 0.25)
    torch.testing.assert_close(dropped.cpu(), tensor * mask.cpu() / 0.75)
    return mask.cpu()

assert bytes_kept(1).equal(bytes_kept(1)) and not bytes_kept(1).equal(bytes_kept(2))
assert 0.6 < bytes_kept(1).float().mean() < 0.9
""",
    )


def test_boxes_overlap(simulated: Simulated) -> None:
    passes(
        simulated,
        """
first = torch.tensor([[0.0, 0, 10, 10], [2, 2, 4, 6], [20, 20, 30, 40]])
second = torch.tensor([[5.0, 5, 15, 15], [2, 2, 4, 6], [0, 0, 1, 1]])

def sides(boxes):
    return boxes[..., 2:] - boxes[..., :2]

def parts(first, second):
    low, high = torch.maximum(first[..., :2], second[..., :2]), torch.minimum(first[..., 2:], second[..., 2:])
    both = (high - low).clamp_min(0).prod(-1)
    return both, sides(first).prod(-1) + sides(second).prod(-1) - both

# A row for each of the second. torch_npu asks for half precision here, and for a little more on each side.
def area_in_half(boxes):
    return (sides(boxes) + 0.01).half().prod(-1).float()
both, _ = parts(first, second[:, None])
union = area_in_half(first) + area_in_half(second[:, None]) - both
by_rows = torch_npu.npu_ptiou(first.npu(), second.npu()).cpu()
torch.testing.assert_close(by_rows, (both / union).half().float(), rtol=0, atol=0)
by_rows = torch_npu.npu_ptiou(first.npu(), second.npu(), 1).cpu()
torch.testing.assert_close(by_rows, (both / area_in_half(second[:, None])).half().float(), rtol=0, atol=0)

both, union = parts(first, second)
overlap = both / union
low, high = torch.minimum(first[:, :2], second[:, :2]), torch.maximum(first[:, 2:], second[:, 2:])
def columns_of(boxes):  # the centre and the sides
    return torch.cat([(boxes[:, :2] + boxes[:, 2:]) / 2, sides(boxes)], 1).t().npu()
columns = columns_of(first), columns_of(second)
hull = (high - low).prod(-1)
generalised = overlap - (hull - union) / hull
torch.testing.assert_close(torch_npu.npu_giou(*columns, trans=True).cpu().flatten(), generalised)

between = ((first[:, :2] + first[:, 2:] - second[:, :2] - second[:, 2:]) / 2).square().sum(-1)
distance = overlap - between / (high - low).square().sum(-1)
torch.testing.assert_close(torch_npu.npu_diou(*columns, trans=True).cpu().flatten(), distance)

def angle(boxes):
    return torch.atan(sides(boxes)[:, 0] / sides(boxes)[:, 1])
shape = (angle(second) - angle(first)).square() * 4 / torch.pi**2
complete = distance - shape.square() / (1 - overlap + shape)
complete = torch.where(shape == 0, distance, complete)
torch.testing.assert_close(torch_npu.npu_ciou(*columns, trans=True, is_cross=False).cpu().flatten(), complete)
""",
    )


def test_boxes_are_encoded_and_decoded(simulated: Simulated) -> None:
    passes(
        simulated,
        """
import math
anchors = torch.tensor([[1.0, 2, 3, 4], [3, 4, 5, 6]]).npu()
truths = torch.tensor([[5.0, 6, 7, 8], [7, 8, 9, 15]]).npu()
offsets = (0.0,) * 4, (0.1, 0.1, 0.2, 0.2)
deltas = torch_npu.npu_bounding_box_encode(anchors, truths, *offsets[0], *offsets[1])
# A side counts its pixels: 3 and, of the last truth, 8.
expected = torch.tensor([[4 / 0.3, 4 / 0.3, 0, 0], [4 / 0.3, 6.5 / 0.3, 0, 5 * math.log(8 / 3)]])
torch.testing.assert_close(deltas.cpu(), expected, rtol=1e-3, atol=1e-3)
# It is computed in half precision.
deltas = torch_npu.npu_bounding_box_encode(anchors, truths, *offsets[0], 1.0, 1.0, 1.0, 1.0)
ratio = torch.tensor(8 / 3).half()
expected_halves = torch.tensor([[4 / 3, 4 / 3, 0, 0], [4 / 3, 6.5 / 3, 0, math.log(ratio)]]).half()
torch.testing.assert_close(deltas.cpu(), expected_halves.float(), rtol=0, atol=0)
deltas = expected.npu()
decoded = torch_npu.npu_bounding_box_decode(anchors, deltas, *offsets[0], *offsets[1], (20, 20), 0.1)
torch.testing.assert_close(decoded.cpu(), truths.cpu(), rtol=1e-4, atol=1e-4)
""",
    )


def test_rotated_boxes_remove_those_that_overlap(simulated: Simulated) -> None:
    passes(
        simulated,
        """
# Two squares, one of them turned by 45 degrees, overlap in an octagon: 1 / sqrt(2) of what both cover.
boxes = torch.tensor([[40.0, 40, 4, 2, 30], [0, 0, 10, 10, 0], [0, 0, 10, 10, 45], [1, 0, 10, 10, 0]])
scores = torch.tensor([0.1, 0.9, 0.5, 0.7])
def remaining(boxes, *options):
    kept, count = torch_npu.npu_nms_rotated(boxes.npu(), scores.npu(), *options)
    assert count.tolist() == [len(kept)] and kept.dtype == torch.int32
    return kept.tolist()
assert remaining(boxes, 0.7) == [1, 0]
assert remaining(boxes, 0.71) == [1, 2, 0]
assert remaining(boxes, 0.9) == [1, 3, 2, 0]
assert remaining(boxes, 0.9, 0.6) == [1, 3]
assert remaining(boxes, 0.9, 0.0, 3) == [1, 3, 2]
assert remaining(boxes, 0.9, 0.0, 0) == []

# By two corners; the angle then goes the other way.
long = torch.tensor([[0.0, 0, 10, 1, 30], [0, 0, 10, 1, -30]])
corners = torch.cat([long[:, :2] - long[:, 2:4] / 2, long[:, :2] + long[:, 2:4] / 2, -long[:, 4:]], 1)
scores = torch.tensor([0.2, 0.3])
for limit in (0.05, 0.06, 0.07):
    assert remaining(corners, limit, 0.0, -1, 1) == remaining(long, limit)
""",
    )


def test_a_cell_of_lstm(simulated: Simulated) -> None:
    passes(
        simulated,
        """
cell = torch.nn.LSTMCell(5, 4)
there = torch.nn.LSTMCell(5, 4)
there.load_state_dict(cell.state_dict())
there.npu()
inputs, hidden, state = torch.randn(3, 5), torch.randn(3, 4), torch.randn(3, 4)
weights = torch.randn(3, 4), torch.randn(3, 4)

def gradients(cell, device):
    leaves = [leaf.to(device).requires_grad_() for leaf in (inputs, hidden, state)]
    h, c = cell(leaves[0], (leaves[1], leaves[2]))
    ((h * weights[0].to(device)) + (c * weights[1].to(device))).sum().backward()
    return [tensor.cpu() for tensor in (h, c, *(leaf.grad for leaf in [*leaves, *cell.parameters()]))]

torch.testing.assert_close(gradients(there, "npu"), gradients(cell, "cpu"))
""",
    )


def test_distances_are_those_of_the_cpu(simulated: Simulated) -> None:
    passes(
        simulated,
        """
rows, others = torch.randn(5, 3), torch.randn(4, 3)
for p in (0.0, 0.5, 1.0, 2.0, 3.0, float("inf")):
    torch.testing.assert_close(torch.cdist(rows.npu(), others.npu(), p).cpu(), torch.cdist(rows, others, p))
    torch.testing.assert_close(torch.pdist(rows.npu(), p).cpu(), torch.pdist(rows, p))
""",
    )


def test_distances_have_gradients(simulated: Simulated) -> None:
    passes(
        simulated,
        """
for p in (0.5, 1.0, 1.5, 2.0, float("inf")):
    def gradients(device):
        leaves = [leaf.clone().to(device).requires_grad_() for leaf in (first, second)]
        (torch.cdist(*leaves, p) * weights.to(device)).sum().backward()
        return [leaf.grad.cpu() for leaf in leaves]
    torch.manual_seed(0)
    first, second, weights = torch.randn(2, 5, 3), torch.randn(2, 4, 3), torch.randn(2, 5, 4)
    torch.testing.assert_close(gradients("npu"), gradients("cpu"))
""",
    )


def test_optimizers_and_random_numbers(simulated: Simulated) -> None:
    passes(
        simulated,
        """
torch.npu.set_compile_mode(jit_compile=True)
variable, mean, square, gradient = (torch.rand(40) for _ in range(4))
def expected(clip, step, decay):
    m, v = 0.9 * mean + 0.1 * gradient * clip, 0.99 * square + 0.01 * (gradient * clip).square()
    return [variable - step * m / (v.sqrt() + 1e-6) - 0.1 * decay * variable, m, v]
for clip, norms in ((1, (-1.0, 4.0)), (0.25, (2.0, 4.0))):
    out = [tensor.clone().npu() for tensor in (variable, mean, square)]
    torch_npu.npu_bert_apply_adam(0.1, 0.9, 0.99, 1e-6, gradient.npu(), *norms, 0.5, out=out)
    torch.testing.assert_close([tensor.cpu() for tensor in out], expected(clip, 0.1, 0.5))
out = [tensor.clone().npu() for tensor in (variable, mean, square)]
torch_npu.npu_bert_apply_adam(
    0.1, 0.9, 0.99, 1e-6, gradient.npu(), 2.0, 4.0, 0.5, step_size=0.3, adam_mode=1, out=out)
torch.testing.assert_close([tensor.cpu() for tensor in out], expected(1, 0.3, 0.5))

product = torch.addcmul(variable.npu(), mean.npu(), square.npu(), value=3)
torch.testing.assert_close(product.cpu(), torch.addcmul(variable, mean, square, value=3))

def drawn():
    torch.manual_seed(3)
    return torch.randn(10000, device="npu").cpu()
assert drawn().equal(drawn())
assert abs(drawn().mean()) < 0.05 and abs(drawn().std() - 1) < 0.05
""",
    )


def test_elementwise_functions(simulated: Simulated) -> None:
    passes(
        simulated,
        """
torch.npu.set_compile_mode(jit_compile=True)
names = "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor log log1p neg reciprocal relu round rsqrt"
names += " sigmoid sign sin sinh sqrt square tan tanh"
for dtype in (torch.float32, torch.float16):
    tensor = torch.rand(4, 5).to(dtype) * 0.9 + 0.05
    for name in names.split():
        function = getattr(torch, name)
        torch.testing.assert_close(function(tensor.npu()).cpu(), function(tensor.float()).to(dtype), msg=name)
first, second = torch.randint(0, 3, (4, 5)), torch.randint(0, 3, (4, 5))
for name in "eq gt ge lt le ne logical_and logical_or maximum minimum".split():
    function = getattr(torch, name)
    assert function(first.npu(), second.npu()).cpu().equal(function(first, second)), name
kept = first > 0
for name in "all any logical_not isfinite isnan".split():
    function = getattr(torch, name)
    assert function(kept.npu()).cpu().equal(function(kept)), name
assert kept.npu().all(1).cpu().equal(kept.all(1))
""",
    )
