"""Quantising and quantised operators of the simulated CANN against their documented formulas."""

from __future__ import annotations

from e2e.fused import Simulated, check, run

REFERENCE = """
def integers(values, low=-128, high=127):
    return values.double().round().clamp(low, high)


def unpacked(packed):
    '''Eight int4 numbers an int32, the first in the lowest bits.'''
    nibbles = (packed.to(torch.int64).unsqueeze(-1) >> torch.arange(0, 32, 4)) & 15
    return torch.where(nibbles > 7, nibbles - 16, nibbles).flatten(-2)


def packed(numbers):
    nibbles = numbers.to(torch.int64).unflatten(-1, (-1, 8)) & 15
    return (nibbles << torch.arange(0, 32, 4)).sum(-1).to(torch.int32)


def cut(scale):
    '''The highest 19 bits of a float.'''
    return ((scale.view(torch.int32) >> 13) << 13).view(torch.float32)


def rms(x, gamma, epsilon=1e-6):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * gamma
"""


def test_dynamic_quantisation(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in HALVES:
    x, smooth = given(3, 5, 16, dtype=dtype), given(16, dtype=dtype)
    for smoothing in (None, smooth):
        values = x.double() if smoothing is None else x.double() * smoothing.double()
        y, scale = torch_npu.npu_dynamic_quant(
            x.npu(), smooth_scales=None if smoothing is None else smoothing.npu()
        )
        expected = values.abs().amax(-1) / 127
        same("scale", scale, expected)
        same("numbers", y, integers(values / expected.unsqueeze(-1)), 1)
        y, scale, offset = torch_npu.npu_dynamic_quant_asymmetric(
            x.npu(), smooth_scales=None if smoothing is None else smoothing.npu()
        )
        expected = (values.amax(-1) - values.amin(-1)) / 255
        same("asymmetric scale", scale, expected)
        same("asymmetric offset", offset, 127 - values.amax(-1) / expected, 1e-3)
        same(
            "asymmetric numbers",
            y,
            integers(values / expected.unsqueeze(-1) + offset.cpu().double().unsqueeze(-1)),
            1,
        )
    y, scale = torch_npu.npu_dynamic_quant(x.npu(), dst_type=torch.quint4x2)
    same(
        "int4",
        unpacked(y.cpu()),
        integers(x.double() / (x.double().abs().amax(-1, keepdim=True) / 7), -8, 7),
        1,
    )
    for mode, dims in (("pertensor", (0, 1, 2)), ("perchannel", (1,))):
        y, scale = torch_npu.npu_dynamic_quant(x.npu(), quant_mode=mode)
        expected = x.double().abs().amax(dims, keepdim=True) / 127
        same(mode, scale, expected.flatten() if mode == "pertensor" else expected.squeeze(1))
        same(f"{mode} numbers", y, integers(x.double() / expected), 1)
    x, smooth, ends = (
        given(6, 16, dtype=dtype),
        given(3, 16, dtype=dtype),
        torch.tensor([2, 3, 6], dtype=torch.int32),
    )
    y, scale = torch_npu.npu_dynamic_quant(x.npu(), smooth_scales=smooth.npu(), group_index=ends.npu())
    values = x.double() * smooth.double()[torch.tensor([0, 0, 1, 2, 2, 2])]
    same("groups", scale, values.abs().amax(-1) / 127)
    same("group numbers", y, integers(values / (values.abs().amax(-1, keepdim=True) / 127)), 1)
    zeros = torch_npu.npu_dynamic_quant(torch.zeros(2, 8, dtype=dtype).npu())
    same("nothing", zeros[0], torch.zeros(2, 8))
""",
        compared=2 * (2 * 5 + 1 + 4 + 2 + 1),
    )


def test_quantisation_with_given_scales(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in (torch.float32, torch.float16):
    x = given(4, 16, dtype=dtype) * 20
    for scales, axis in (
        (given(16, low=0.5, high=2.0), 1),
        (given(4, low=0.5, high=2.0), 0),
        (torch.tensor([0.7]), 1),
    ):
        along = scales.double() if axis == 1 else scales.double().unsqueeze(1)
        zeros = torch.randint(-5, 5, scales.shape, dtype=torch.int32)
        zero = zeros.double() if axis == 1 else zeros.double().unsqueeze(1)
        for kind, low, high in (
            (torch.qint8, -128, 127),
            (torch.quint8, 0, 255),
            (torch.qint32, -(2**31), 2**31 - 1),
        ):
            y = torch_npu.npu_quantize(x.npu(), scales.npu(), zeros.npu(), kind, axis)
            same(f"quantize {kind} {axis}", y, integers(x.double() / along + zero, low, high), 1)
    scale, offset = given(16, low=0.5, high=2.0, dtype=dtype), given(16, dtype=dtype)
    y = torch_npu.npu_quantize(x.npu(), scale.npu(), offset.npu(), torch.qint8, -1, False)
    same("ascend quant", y, integers(x.double() * scale.double() + offset.double()), 1)
    y = torch_npu.npu_quantize(x.npu(), scale.npu(), offset.npu(), torch.quint4x2, -1, False)
    same(
        "ascend quant int4",
        unpacked(y.cpu()),
        integers(x.double() * scale.double() + offset.double(), -8, 7),
        1,
    )
    scales, ends = (
        given(3, 16, low=0.5, high=2.0, dtype=dtype),
        torch.tensor([1, 1, 4], dtype=torch.int32),
    )
    y = torch_npu.npu_group_quant(x.npu(), scales.npu(), ends.npu(), dst_dtype=torch.qint8)
    same("groups", y, integers(x.double() * scales.double()[torch.tensor([0, 2, 2, 2])]), 1)
numbers = torch.randint(-128, 128, (3, 8), dtype=torch.int8)
for dtype in HALVES:
    scale, offset = given(8, dtype=torch.float32), given(8, dtype=torch.float32)
    y = torch_npu.npu_anti_quant(numbers.npu(), scale.npu(), offset=offset.npu(), dst_dtype=dtype)
    same("anti quant", y, (numbers.double() + offset.double()) * scale.double(), 2 * TOLERANCE[dtype])
small = torch.randint(-8, 8, (3, 8))
y = torch_npu.npu_anti_quant(packed(small).npu(), scale.npu(), dst_dtype=torch.float16)
same("anti quant int4", y, small.double() * scale.double())
scale, offset = given(16, low=0.1, high=3.0), given(16) * 100
coded = torch_npu.npu_trans_quant_param(scale.npu(), offset.npu()).cpu()
same("coded scale", (coded & 0xFFFFFFFF).to(torch.int32).view(torch.float32), cut(scale), 0)
nine = (coded >> 37) & 0x1FF
same("coded offset", torch.where(nine > 255, nine - 512, nine), integers(offset, -256, 255))
same("marked", (coded >> 46) & 1, torch.ones(16, dtype=torch.int64))
rows = torch.randint(-1000, 1000, (4, 8), dtype=torch.int32)
weights, activations, bias = given(8), given(4), torch.randint(-50, 50, (8,), dtype=torch.int32)
y = torch_npu.npu_dequant_bias(
    rows.npu(), weights.npu(), activations.npu(), bias.npu(), output_dtype=torch.float16
)
same("dequant bias", y, (rows + bias).double() * weights.double() * activations.double().unsqueeze(1))
""",
        compared=2 * (3 * 3 + 3) + 2 + 1 + 3 + 1,
    )


def test_products_of_quantised_matrices(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
left = torch.randint(-128, 128, (2, 5, 32), dtype=torch.int8)
for right, right_on_device in (
    (w := torch.randint(-128, 128, (32, 16), dtype=torch.int8), w.npu()),
    (w := torch.randint(-128, 128, (32, 16), dtype=torch.int8), w.t().contiguous().npu().t()),
):
    product = left.double() @ right.double()
    scale, rows = given(16, low=1e-4, high=1e-3), given(5, low=0.5, high=1.0)
    bias = torch.randint(-1000, 1000, (16,), dtype=torch.int32)
    y = torch_npu.npu_quant_matmul(
        left.npu(), right_on_device, scale.npu(), bias=bias.npu(), output_dtype=torch.float16
    )
    same("float16", y, (product + bias) * cut(scale).double())
    y = torch_npu.npu_quant_matmul(left.npu(), right_on_device, scale.npu(), output_dtype=torch.bfloat16)
    same("bfloat16", y, product * scale.double())
    offset = given(16) * 10
    y = torch_npu.npu_quant_matmul(left.npu(), right_on_device, scale.npu(), offset=offset.npu())
    same("int8", y, integers(product * cut(scale).double() + offset.double()), 1)
    single = left[0]
    y = torch_npu.npu_quant_matmul(
        single.npu(),
        right_on_device,
        scale.npu(),
        pertoken_scale=rows.npu(),
        bias=bias.npu(),
        output_dtype=torch.bfloat16,
    )
    same(
        "rows",
        y,
        ((single.double() @ right.double()) + bias) * scale.double() * rows.double().unsqueeze(1),
    )
    y = torch_npu.npu_quant_matmul(
        left.npu(), right_on_device, torch.ones(1).npu(), output_dtype=torch.int32
    )
    same("int32", y, product)
small = torch.randint(-8, 8, (32, 16))
four = torch.randint(-8, 8, (5, 32))
y = torch_npu.npu_quant_matmul(
    packed(four).npu(), packed(small).npu(), scale.npu(), output_dtype=torch.float16
)
same("int4", y, four.double() @ small.double() * cut(scale).double())
y = torch_npu.npu_quant_matmul(
    packed(four).npu(), packed(small.t().contiguous()).npu().t(), scale.npu(), output_dtype=torch.float16
)
same("int4, turned", y, four.double() @ small.double() * cut(scale).double())
x, weight, scale = (
    given(5, 32, dtype=torch.float16),
    torch.randint(-128, 128, (16, 32), dtype=torch.int8),
    given(16),
)
y = torch_npu.npu_quant_matmul_dequant(x.npu(), weight.npu(), scale.npu())
rows = x.double().abs().amax(-1, keepdim=True) / 127
same(
    "quantised on the way",
    y,
    integers(x.double() / rows) @ weight.double().t() * scale.double() * rows,
    5e-3,
)
""",
        compared=2 * 5 + 2 + 1,
    )


def test_products_with_quantised_weights(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in HALVES:
    x = given(5, 64, dtype=dtype)
    weight = torch.randint(-8, 8, (64, 16))
    scale, offset, bias = (
        given(16, dtype=dtype) / 8,
        given(16, dtype=dtype),
        given(16, dtype=torch.float32),
    )
    bias = bias.half() if dtype == torch.float16 else bias
    # Weights are rounded to the dtype of what they are multiplied with, after each step.
    cast = lambda t: t.to(dtype).double()
    restored = lambda weight, scale, offset: cast(cast(weight + offset.double()) * scale.double())
    expected = x.double() @ restored(weight, scale, offset) + bias.double()
    bound = TOLERANCE[dtype] / 2
    for name, on_device in (
        ("int8", weight.to(torch.int8).npu()),
        ("int8, turned", weight.to(torch.int8).t().contiguous().npu().t()),
        ("int4", packed(weight).npu()),
        ("int4, turned", packed(weight.t().contiguous()).npu().t()),
    ):
        y = torch_npu.npu_weight_quant_batchmatmul(
            x.npu(), on_device, scale.npu(), antiquant_offset=offset.npu(), bias=bias.npu()
        )
        same(f"{name} {dtype}", y, expected, bound)
    scale, offset = given(2, 16, dtype=dtype) / 8, given(2, 16, dtype=dtype)
    spread = lambda t: t.repeat_interleave(32, 0)
    y = torch_npu.npu_weight_quant_batchmatmul(
        x.npu(), packed(weight).npu(), scale.npu(), antiquant_offset=offset.npu(), antiquant_group_size=32
    )
    same(f"groups {dtype}", y, x.double() @ restored(weight, spread(scale), spread(offset)), bound)
x, weight, scale = (
    given(5, 64, dtype=torch.float16),
    torch.randint(-8, 8, (64, 16), dtype=torch.int8),
    given(16, dtype=torch.float16),
)
out, shift = given(16, low=1.0, high=2.0), given(16)
y = torch_npu.npu_weight_quant_batchmatmul(
    x.npu(), weight.npu(), scale.npu(), quant_scale=out.npu(), quant_offset=shift.npu()
)
same(
    "quantised result",
    y,
    integers(x.double() @ (weight * scale.double()) * cut(out).double() + shift.double()),
    1,
)
whole = torch.randint(-8, 8, (16, 64), dtype=torch.int32)
same("packing", torch_npu.npu_convert_weight_to_int4pack(whole.npu()), packed(whole))
""",
        compared=2 * 5 + 1 + 1,
    )


def test_norms_with_quantised_results(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in HALVES:
    x1, x2, gamma, beta = (given(*s, dtype=dtype) for s in ((4, 16), (4, 16), (16,), (16,)))
    scale, other = given(16, low=0.02, high=0.1), given(16, low=0.02, high=0.1)
    zeros = torch.randint(-5, 5, (16,), dtype=torch.int32)
    if dtype == torch.bfloat16:
        scale, other, zeros = scale.bfloat16(), other.bfloat16(), zeros.bfloat16()
    total = x1.double() + x2.double()
    y1, y2, x = torch_npu.npu_add_rms_norm_quant(
        x1.npu(), x2.npu(), gamma.npu(), scale.npu(), zeros.npu(), beta.npu(), other.npu()
    )
    normal = rms(total, gamma.double()) + beta.double()
    same("y1", y1, integers(normal / scale.double() + zeros.double()), 1)
    same("y2", y2, integers(normal / other.double()), 1)
    same("x", x, total)
    one, offset = given(1, low=0.02, high=0.1, dtype=dtype), torch.tensor([3], dtype=torch.int8)
    y = torch_npu.npu_rms_norm_quant(x1.npu(), gamma.npu(), beta.npu(), one.npu(), offset.npu())
    same("rms", y, integers((rms(x1.double(), gamma.double()) + beta.double()) / one.double() + 3), 1)
    smooth = given(16, dtype=dtype)
    y1, y2, x, scale1, scale2 = torch_npu.npu_add_rms_norm_dynamic_quant(
        x1.npu(),
        x2.npu(),
        gamma.npu(),
        smooth_scale1=smooth.npu(),
        smooth_scale2=gamma.npu(),
        beta=beta.npu(),
    )
    for name, y, scale, factor in (("first", y1, scale1, smooth), ("second", y2, scale2, gamma)):
        values = normal * factor.double()
        same(f"{name} scale", scale, values.abs().amax(-1) / 127)
        same(name, y, integers(values / (values.abs().amax(-1, keepdim=True) / 127)), 1)
""",
        compared=2 * (3 + 1 + 4),
    )


def test_swiglu_between_quantised_tensors(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
def swiglu(x, left):
    a, b = x.double().chunk(2, -1)
    return F.silu(a) * b if left else a * F.silu(b)


ends, groups = torch.tensor([2, 3, 6], dtype=torch.int32), torch.tensor([0, 0, 1, 2, 2, 2])
for dtype, left, counted in itertools.product(FLOATS, (False, True), (0, 1)):
    x, smooth, offset = given(6, 32, dtype=dtype), given(3, 16) * 9, given(3, 16)
    index = torch.tensor([2, 1, 3], dtype=torch.int32) if counted else ends
    values = swiglu(x, left) * smooth.double()[groups]
    y, scale = torch_npu.npu_swiglu_quant(
        x.npu(),
        smooth_scales=smooth.npu(),
        group_index=index.npu(),
        activate_left=left,
        quant_mode=1,
        group_list_type=counted,
    )
    same("scale", scale, 127 / values.abs().amax(-1), 1e-4)
    same("dynamic", y, integers(values * 127 / values.abs().amax(-1, keepdim=True)), 1)
    y, _ = torch_npu.npu_swiglu_quant(
        x.npu(),
        smooth_scales=smooth.npu(),
        offsets=offset.npu(),
        group_index=index.npu(),
        activate_left=left,
        quant_mode=0,
        group_list_type=counted,
    )
    same("static", y, integers(values + offset.double()[groups]), 1)
for left, mode in itertools.product((False, True), (0, 1, 2)):
    x, weights, rows = torch.randint(-50, 50, (6, 32), dtype=torch.int32), given(3, 32) / 20, given(6)
    smooth, counts = given(3, 16), torch.tensor([2, 1, 3])
    values = x.double() * weights.double()[groups] * rows.double().unsqueeze(1)
    if mode == 0:
        values = swiglu(values, left)
    else:
        a, b = (
            (values[:, ::2], values[:, 1::2])
            if mode == 1
            else values.chunk(2, -1)
            if left
            else values.chunk(2, -1)[::-1]
        )
        a, b = a.clamp(max=2.0), b.clamp(-2.0, 2.0)
        values = a * torch.sigmoid(1.5 * a) * (b + 0.5)
    values = values * smooth.double()[groups]
    y, scale = torch_npu.npu_dequant_swiglu_quant(
        x.npu(),
        weight_scale=weights.npu(),
        activation_scale=rows.npu(),
        quant_scale=smooth.npu(),
        group_index=counts.npu(),
        activate_left=left,
        quant_mode=1,
        swiglu_mode=mode,
        clamp_limit=2.0,
        glu_alpha=1.5,
        glu_bias=0.5,
    )
    same(f"dequant scale {mode}", scale, values.abs().amax(-1) / 127, 1e-4)
    same(f"dequant {mode}", y, integers(values / (values.abs().amax(-1, keepdim=True) / 127)), 1)
""",
        compared=3 * 2 * 2 * 3 + 2 * 3 * 2,
    )


def test_gelu_with_a_quantised_result(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype, approximate in itertools.product(FLOATS, ("none", "tanh")):
    x, scale, offset = given(5, 16, dtype=dtype), given(16, dtype=dtype) * 20, given(16, dtype=dtype)
    values = F.gelu(x.double(), approximate=approximate) * scale.double()
    y, found = torch_npu.npu_gelu_quant(
        x.npu(), input_scale=scale.npu(), approximate=approximate, quant_mode="dynamic"
    )
    expected = values.abs().amax(-1) / 127
    same("scale", found, expected, 1e-4)
    same("dynamic", y, integers(values / expected.unsqueeze(-1)), 1)
    y, _ = torch_npu.npu_gelu_quant(
        x.npu(),
        input_scale=scale.npu(),
        input_offset=offset.npu(),
        approximate=approximate,
        quant_mode="static",
    )
    same("static", y, integers(values + offset.double()), 1)
""",
        compared=3 * 2 * 3,
    )


def test_what_is_not_quantised_is_refused_by_name(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
x = torch.ones(2, 8, dtype=torch.float16).npu()
refuses("type", lambda: torch_npu.npu_dynamic_quant(x, dst_type=torch.float16))
refuses("mode", lambda: torch_npu.npu_dynamic_quant(x, quant_mode="perblock"))
refuses("wide", lambda: torch_npu.npu_dynamic_quant(x.float()))
refuses("smooth", lambda: torch_npu.npu_dynamic_quant(x, smooth_scales=x[0, :4].contiguous()))
refuses("scale", lambda: torch_npu.npu_quantize(x, torch.ones(3).npu(), None, torch.qint8, 1))
""",
    )
    assert "aclnnDynamicQuantV2: a quantisation to Half is not implemented" in seen["refused"]["type"]
    assert "the quantisation mode perblock is not known" in seen["refused"]["mode"]
    assert "x of Float is not taken" in seen["refused"]["wide"]
    assert "the smoothing scales have shape [4], not" in seen["refused"]["smooth"]
    assert "do not fit an input of shape" in seen["refused"]["scale"]
    for words in seen["refused"].values():
        assert "error code is 161002" in words
