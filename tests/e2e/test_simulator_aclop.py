"""Operators of the older aclop interface that layers and detection use, compared with plain PyTorch."""

from __future__ import annotations

from e2e.fused import Simulated, check


def test_parts_of_tensors(simulated: Simulated) -> None:
    check(
        simulated,
        """
for dtype in (torch.float32, torch.float16, torch.int32, torch.int64, torch.uint8):
    x = torch.randint(0, 100, (3, 4, 5)).to(dtype)
    same("slice", torch_npu.npu_slice(x.npu(), [1, 0, 2], [2, 3, 3]), x[1:3, :3, 2:])
    part = torch_npu.npu_indexing(x.npu(), [0, 1, 1], [3, 4, 5], [2, 1, 3])
    same("steps", part, x[0:3:2, 1:4, 1:5:3])
    same("broadcast", torch_npu.npu_broadcast(x[:, :1].npu(), (3, 6, 5)), x[:, :1].expand(3, 6, 5))
for dtype in (torch.float32, torch.float16):
    x = given(3, 4, 5, dtype=dtype)
    for keep, dim in itertools.product((False, True), (0, 2, -1)):
        values, places = torch_npu.npu_max(x.npu(), dim, keep)
        same("largest", values, x.max(dim, keep).values)
        same("its place", places, x.max(dim, keep).indices)
        values, places = torch_npu.npu_min(x.npu(), dim, keep)
        same("least", values, x.min(dim, keep).values)
        same("its place", places, x.min(dim, keep).indices)
    same("sorted", torch_npu.npu_sort_v2(x.npu(), 1, True), x.sort(1, descending=True).values)
x = given(2, 3, 4)
turned = torch_npu.npu_confusion_transpose(x.npu(), (0, 2, 1), (2, 12), True)
same("turned and shaped", turned, x.permute(0, 2, 1).reshape(2, 12))
turned = torch_npu.npu_confusion_transpose(x.npu(), (1, 0), (6, 4), False)
same("shaped and turned", turned, x.reshape(6, 4).t())
numbers = torch.randint(0, 4, (2, 3))
hot = F.one_hot(numbers, 6) * 2.5 - 0.5
same("one hot", torch_npu.npu_one_hot(numbers.npu(), -1, 6, 2.0, -0.5), hot)
""",
        compared=5 * 3 + 2 * (2 * 3 * 4 + 1) + 3,
    )


def test_losses_and_norms(simulated: Simulated) -> None:
    check(
        simulated,
        """
labels = torch.rand(6, 9).softmax(1)
same_gradients(
    "cross entropy",
    lambda x: torch_npu.npu_softmax_cross_entropy_with_logits(x, labels.npu()),
    lambda x: -(x.log_softmax(1) * labels).sum(1),
    given(6, 9),
)
x, weight, bias = given(6, 4, 5), given(4, 5), given(4, 5)
same(
    "norm",
    torch_npu.npu_layer_norm_eval(x.npu(), (4, 5), weight.npu(), bias.npu(), 1e-3),
    F.layer_norm(x.double(), (4, 5), weight.double(), bias.double(), 1e-3),
)
numbers = torch.tensor([5.0, 4.0, 3.0, 2.0, 0.0, -1.0, -2.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0, -2.0])
signs = torch_npu.npu_sign_bits_pack(numbers.npu(), 2)
same("packed signs", signs, torch.tensor([[159], [15]]))
unpacked = torch_npu.npu_sign_bits_unpack(signs.flatten(), 2, torch.float32)
same("signs", unpacked.flatten()[:14], (numbers >= 0) * 2.0 - 1)
""",
        compared=2 + 1 + 2,
    )


def test_convolutions_with_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        """
def convolutions(transposed, x, weight, bias, *options, tolerance):
    plain = {
        (4, False): F.conv2d,
        (5, False): F.conv3d,
        (4, True): F.conv_transpose2d,
        (5, True): F.conv_transpose3d,
    }[x.dim(), transposed]
    ours = torch_npu.npu_convolution_transpose if transposed else torch_npu.npu_convolution
    stride, padding, dilation, groups = options
    outward = [0] * (x.dim() - 2)
    same_gradients(
        f"{x.dim()} {transposed} {x.dtype}",
        lambda *tensors: (
            ours(*tensors, padding, outward, stride, dilation, groups)
            if transposed
            else ours(*tensors, stride, padding, dilation, groups)
        ),
        lambda *tensors: (
            plain(*tensors, stride, padding, outward, groups, dilation)
            if transposed
            else plain(*tensors, stride, padding, dilation, groups)
        ),
        x,
        weight,
        bias,
        tolerance=tolerance,
    )


for dtype in (torch.float32, torch.float16):
    bound = 20 * TOLERANCE[dtype]
    tensors = lambda *shapes: [given(*shape, dtype=dtype) for shape in shapes]
    convolutions(
        False, *tensors((2, 4, 9, 7), (6, 2, 3, 2), (6,)), [2, 1], [1, 0], [1, 2], 2, tolerance=bound
    )
    convolutions(
        False,
        *tensors((2, 3, 5, 6, 7), (4, 3, 2, 3, 3), (4,)),
        [1, 2, 1],
        [1, 1, 0],
        [1, 1, 1],
        1,
        tolerance=bound,
    )
    convolutions(
        True, *tensors((2, 4, 5, 6), (4, 3, 3, 3), (3,)), [2, 1], [1, 1], [1, 1], 1, tolerance=bound
    )
    convolutions(
        True,
        *tensors((2, 4, 3, 5, 4), (4, 3, 3, 2, 3), (3,)),
        [1, 2, 1],
        [1, 0, 1],
        [1, 1, 1],
        1,
        tolerance=bound,
    )
""",
        compared=2 * 4 * 4,
    )


def test_deformable_convolutions_with_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        """
from torch_npu.contrib.module import ModulatedDeformConv


def sampled(image, y, x):
    '''Bilinear, and 0 outside.'''
    rows, columns = image.shape[-2:]
    top, left = y.detach().floor(), x.detach().floor()
    total = 0
    for down, right in itertools.product((0, 1), (0, 1)):
        row, column = (top + down).long(), (left + right).long()
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        pixels = image[:, row.clamp(0, rows - 1), column.clamp(0, columns - 1)] * inside
        total = total + pixels * (1 - (y - top - down).abs()) * (1 - (x - left - right).abs())
    return total


def deformed(x, offset, mask, weight, bias):
    '''The definition, stride 2, padding 1.'''
    kernel, (rows, columns) = weight.shape[-1], offset.shape[-2:]
    results = []
    for image, own, shares in zip(x, offset, mask):
        total = bias.view(-1, 1, 1)
        for element in range(kernel * kernel):
            y = torch.arange(rows).view(-1, 1) * 2 - 1 + element // kernel + own[2 * element]
            x_ = torch.arange(columns) * 2 - 1 + element % kernel + own[2 * element + 1]
            part = sampled(image, y, x_) * shares[element]
            total = total + torch.einsum(
                "oc,chw->ohw", weight[:, :, element // kernel, element % kernel], part
            )
        results.append(total)
    return torch.stack(results)


model = ModulatedDeformConv(3, 4, 3, 2, 1, pack=False).npu()
given_tensors = (given(2, 3, 7, 6), given(2, 18, 4, 3), given(2, 9, 4, 3, low=0.0, high=1.0))
weight, bias = model.weight.detach().cpu().double(), model.bias.detach().cpu().double()
same_gradients(
    "deformed",
    lambda x, offset, mask: model((x, offset, mask)),
    lambda x, offset, mask: deformed(x, offset, mask, weight, bias),
    *given_tensors,
    tolerance=1e-4,
)
""",
        compared=4,
    )


def test_recurrent_layers(simulated: Simulated) -> None:
    check(
        simulated,
        """
steps, batch, features, hidden = 5, 3, 6, 4
x, h, c = given(steps, batch, features), given(1, batch, hidden), given(1, batch, hidden)
weight, bias = given(features + hidden, 4 * hidden), given(4 * hidden)
layer = torch.nn.LSTM(features, hidden)
layer.load_state_dict(
    {
        "weight_ih_l0": weight[:features].t(),
        "weight_hh_l0": weight[features:].t(),
        "bias_ih_l0": bias,
        "bias_hh_l0": torch.zeros(4 * hidden),
    }
)
y, (h_n, c_n) = layer(x, (h, c))
ours = torch_npu.npu_lstm(
    *(t.npu() for t in (x, weight, bias, torch.tensor(steps), h, c)),
    True,
    1,
    0.0,
    True,
    False,
    False,
    False,
    False,
)
same("LSTM", ours[0], y, 1e-4)
same("its state", ours[1][-1:], h_n, 1e-4)
same("its cell", ours[2][-1:], c_n, 1e-4)
of_input, of_hidden = given(features, 3 * hidden), given(hidden, 3 * hidden)
biases = given(3 * hidden), given(3 * hidden)
layer = torch.nn.GRU(features, hidden)
layer.load_state_dict(
    {
        "weight_ih_l0": of_input.t(),
        "weight_hh_l0": of_hidden.t(),
        "bias_ih_l0": biases[0],
        "bias_hh_l0": biases[1],
    }
)
y, h_n = layer(x, h)
ours = torch_npu.npu_gru(
    *(t.npu() for t in (x, h, of_input, of_hidden, *biases, torch.tensor([steps]))),
    True,
    1,
    0.0,
    True,
    False,
    False,
)
same("GRU", ours[0], y, 1e-4)
same("its state", ours[1][-1:], h_n, 1e-4)
""",
        compared=3 + 2,
    )


def test_attention_in_one_operator(simulated: Simulated) -> None:
    check(
        simulated,
        """
heads, features, length, batch = 16, 16, 16, 2
width = heads * features
rows = [given(batch * length, width, dtype=torch.float16) for _ in range(3)]
weights = [given(width, width, dtype=torch.float16) / 16 for _ in range(4)]
biases = [given(width, dtype=torch.float16) for _ in range(4)]
mask = given(batch, heads, length, length, dtype=torch.float16)
split = lambda t: t.view(batch, length, heads, features).transpose(1, 2)
q, k, v = (
    split(F.linear(*(t.double() for t in given_three))) for given_three in zip(rows, weights, biases)
)
scores = (q @ k.transpose(-1, -2) / math.sqrt(features) + mask.double()).softmax(-1)
context = (scores @ v).transpose(1, 2).reshape(batch * length, width)
expected = F.linear(context, weights[3].double(), biases[3].double())
y, *_ = torch_npu.npu_multi_head_attention(
    *(t.npu() for t in rows),
    *(t.npu() for t in weights[:3]),
    mask.npu(),
    weights[3].npu(),
    *(t.npu() for t in biases),
    None,
    heads,
    features,
    length,
    length,
    0.0,
    True,
)
same("attention", y, expected, 2e-2)
for dtype in (torch.float32, torch.float16):
    one, other = given(2, 3, 16, 32, dtype=dtype), given(2, 3, 16, 32, dtype=dtype)
    same_gradients(  # torch_npu gives the second operand no gradient of its own
        f"softmax of a sum {dtype}",
        lambda one: torch_npu.npu_dropout_with_add_softmax(one, other.npu(), 0.3, 0.0, -1)[2],
        lambda one: (other + 0.3 * one).softmax(-1),
        one,
        tolerance=4 * TOLERANCE[dtype],
    )
    left, right = given(2, 5, 6, dtype=dtype), given(2, 6, 7, dtype=dtype)
    same(
        "product",
        torch_npu.npu_bmmV2(left.npu(), right.npu(), []),
        left.double() @ right.double(),
        8 * TOLERANCE[dtype],
    )
""",
        compared=1 + 2 * 3,
    )


def test_regions_and_boxes(simulated: Simulated) -> None:
    check(
        simulated,
        """
def pooled(maps, regions, scale, groups, results):
    '''Cell by cell.'''
    rows = regions.transpose(1, 2).reshape(-1, 5)
    out = torch.zeros(len(rows), results, groups, groups, dtype=torch.float64)
    for r, (number, left, top, right, bottom) in enumerate(rows.tolist()):
        x0, y0, x1, y1 = (round(v) * scale for v in (left, top, right + 1, bottom + 1))
        width, height = max(x1 - x0, 0.1) / groups, max(y1 - y0, 0.1) / groups
        for c, i, j in itertools.product(range(results), range(groups), range(groups)):
            begin_y, end_y = (
                min(max(f(n * height + y0), 0), maps.shape[2])
                for f, n in ((math.floor, i), (math.ceil, i + 1))
            )
            begin_x, end_x = (
                min(max(f(n * width + x0), 0), maps.shape[3])
                for f, n in ((math.floor, j), (math.ceil, j + 1))
            )
            cell = maps[int(number), (c * groups + i) * groups + j, begin_y:end_y, begin_x:end_x]
            if cell.numel():
                out[r, c, i, j] = cell.mean()
    return out


regions = torch.tensor(
    [[[0.0, 0.0], [3, 1], [2, 4], [9, 11], [9, 20]], [[1.0, 1.0], [1, 0], [4, 2], [9, 3], [9, 2]]]
)
same_gradients(
    "regions",
    lambda maps: torch_npu.npu_ps_roi_pooling(maps, regions.npu(), 0.5, 3, 2),
    lambda maps: pooled(maps, regions, 0.5, 3, 2),
    given(2, 18, 8, 8),
)
boxes = torch.tensor(
    [[0.0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30], [0, 0, 5, 10]], dtype=torch.float16
)
scores = torch.tensor([[0.9, 0.2], [0.8, 0.7], [0.6, 0.0], [0.5, 0.1]], dtype=torch.float16)
found = torch_npu.npu_batch_nms(boxes.view(1, 4, 1, 4).npu(), scores.view(1, 4, 2).npu(), 0.3, 0.55, 4, 5)
same("boxes", found[0][0], torch.cat((boxes[[0, 1, 2, 3]], torch.zeros(1, 4))))
same("scores", found[1][0], torch.tensor([0.9, 0.7, 0.6, 0.5, 0]), 1e-3)
same("classes", found[2][0], torch.tensor([0.0, 1, 0, 0, 0]))
same("number", found[3], torch.tensor([4]))
overlaps = torch.tensor([[0.2, 0.9, 0.4, 0.1], [0.6, 0.3, 0.4, 0.2]])
best, of = overlaps.max(0)
best_of_truth, its = overlaps.max(1)
flags = torch.tensor([1, 1, 1, 0], dtype=torch.uint8)
assigned = torch_npu.npu_grid_assign_positive(
    torch.full((4,), -1.0).npu(),
    *(t.npu() for t in (overlaps, flags, best, of.int(), best_of_truth, its.int())),
    2,
    0.5,
    0.0,
    True,
)
same("assigned", assigned, torch.tensor([2.0, 1, -1, -1]))
""",
        compared=2 + 4 + 1,
    )
