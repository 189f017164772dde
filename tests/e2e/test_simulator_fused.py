"""Fused norms, rotary embeddings and activations of the simulated CANN against their documented formulas."""

from __future__ import annotations

from e2e.fused import Simulated, check, run

RMS = """
def rms(x, gamma, epsilon=1e-6):
    dims = tuple(range(x.dim() - gamma.dim(), x.dim()))
    return x * torch.rsqrt((x * x).mean(dims, keepdim=True) + epsilon) * gamma
"""


def test_rms_norm_and_its_gradient(simulated: Simulated) -> None:
    check(
        simulated,
        RMS
        + """
for dtype in FLOATS:
    for shape, normalized in [((3, 8), (8,)), ((2, 3, 16), (16,)), ((2, 3, 4, 8), (4, 8)), ((5,), (5,))]:
        same_gradients(
            f"rms {dtype} {shape}",
            lambda x, g: torch_npu.npu_rms_norm(x, g)[0],
            rms,
            given(*shape, dtype=dtype),
            given(*normalized, dtype=dtype),
            tolerance=4 * TOLERANCE[dtype],
        )
    x, gamma = given(4, 32, dtype=dtype), given(32, dtype=dtype)
    y, rstd = torch_npu.npu_rms_norm(x.npu(), gamma.npu(), 1e-3)
    same("epsilon", y, rms(x.double(), gamma.double(), 1e-3))
    same("rstd", rstd, torch.rsqrt((x.double() ** 2).mean(-1, keepdim=True) + 1e-3))
    same(
        "gemma",
        torch_npu.npu_gemma_rms_norm(x.npu(), gamma.npu())[0],
        rms(x.double(), 1 + gamma.double()),
    )
""",
        compared=3 * (4 * 3 + 3),
    )


def test_rms_norm_after_an_addition(simulated: Simulated) -> None:
    check(
        simulated,
        RMS
        + """
for dtype in FLOATS:
    x1, x2, gamma = given(2, 5, 16, dtype=dtype), given(2, 5, 16, dtype=dtype), given(16, dtype=dtype)
    total = x1.double() + x2.double()
    y, rstd, x = torch_npu.npu_add_rms_norm(x1.npu(), x2.npu(), gamma.npu())
    same("add y", y, rms(total, gamma.double()))
    same("add rstd", rstd, torch.rsqrt((total**2).mean(-1, keepdim=True) + 1e-6), 1e-5)
    same("add x", x, total)
    first, second = x1.npu(), x2.npu()
    torch_npu.npu_add_rms_norm_v2(first, second, gamma.npu())
    same("in place y", first, rms(total, gamma.double()))
    same("in place x", second, total)
    if dtype in HALVES:
        in_float, rounded, _, x = torch_npu.npu_add_rms_norm_cast(x1.npu(), x2.npu(), gamma.npu())
        same("cast float", in_float, rms(total, gamma.double()))
        same("cast", rounded, rms(total, gamma.double()))
""",
        compared=3 * 5 + 2 * 2,
    )


def test_layer_norms_with_additions(simulated: Simulated) -> None:
    check(
        simulated,
        """
def deep(x, gx, beta, gamma):
    return F.layer_norm(x * 0.3 + gx, gamma.shape, gamma, beta, 1e-6)


for dtype in FLOATS:
    arguments = [
        given(3, 4, 16, dtype=dtype),
        given(3, 4, 16, dtype=dtype),
        given(16, dtype=dtype),
        given(16, dtype=dtype),
    ]
    same_gradients(
        f"deep norm {dtype}",
        lambda *a: torch_npu.npu_deep_norm(*a)[2],
        deep,
        *arguments,
        tolerance=4 * TOLERANCE[dtype],
    )
    x1, x2, gamma, beta = arguments
    y, mean, rstd, x = torch_npu.npu_add_layer_norm(*(t.npu() for t in arguments), additional_output=True)
    total = x1.double() + x2.double()
    same("add layer norm", y, F.layer_norm(total, (16,), gamma.double(), beta.double(), 1e-5))
    same("sum", x, total)
    same("mean", mean, total.mean(-1, keepdim=True), 1e-5)
    leaves = [leaf(t, "cpu") for t in (total, gamma, beta)]
    grad = given(3, 4, 16, dtype=dtype)
    F.layer_norm(leaves[0], (16,), leaves[1], leaves[2], 1e-5).backward(grad.double())
    dx, _, dgamma, dbeta = torch_npu.npu_add_layer_norm_backward(
        grad.npu(), x1.npu(), x2.npu(), rstd, mean, gamma.npu(), x2.npu()
    )
    same("gradient of x", dx, leaves[0].grad + x2.double(), 4 * TOLERANCE[dtype])
    same("gradient of gamma", dgamma, leaves[1].grad, 1e-4)
    same("gradient of beta", dbeta, leaves[2].grad, 1e-4)
""",
        compared=3 * 11,
    )


def test_group_norm_with_an_activation(simulated: Simulated) -> None:
    check(
        simulated,
        """
for dtype in FLOATS:
    for shape in [(2, 6, 5, 3), (3, 6, 7)]:
        x, gamma, beta = given(*shape, dtype=dtype), given(6, dtype=dtype), given(6, dtype=dtype)
        silu = F.silu(F.group_norm(x.double(), 3, gamma.double(), beta.double(), 1e-5))
        same(
            f"silu {dtype} {shape}",
            torch_npu.npu_group_norm_silu(x.npu(), gamma.npu(), beta.npu(), 3)[0],
            silu,
        )

        def swish(x, gamma, beta):
            y = F.group_norm(x, 3, gamma, beta, 1e-5)
            return y * torch.sigmoid(1.5 * y)

        same_gradients(
            f"swish {dtype} {shape}",
            lambda x, g, b: torch_npu.npu_group_norm_swish(x, 3, g, b, swish_scale=1.5)[0],
            swish,
            x,
            gamma,
            beta,
            tolerance=8 * TOLERANCE[dtype],
        )
""",
        compared=3 * 2 * 5,
    )


def test_rotary_embeddings_and_their_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        """
def half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def interleave(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def quarter(x):
    a, b, c, d = x.chunk(4, -1)
    return torch.cat((-b, a, -d, c), -1)


TURNS = dict(half=half, interleave=interleave, quarter=quarter)
for dtype in FLOATS:
    for mode, shape, angles in itertools.product(
        ("half", "interleave"), [(2, 3, 5, 8)], [(1, 1, 5, 8), (2, 1, 5, 8), (2, 3, 5, 8)]
    ):
        same_gradients(
            f"{mode} {dtype} {angles}",
            lambda x, c, s: torch_npu.npu_rotary_mul(x, c, s, mode),
            lambda x, c, s: x * c + TURNS[mode](x) * s,
            given(*shape, dtype=dtype),
            given(*angles, dtype=dtype),
            given(*angles, dtype=dtype),
            tolerance=4 * TOLERANCE[dtype],
        )
    x, cos, sin, matrix = (
        given(*s, dtype=dtype) for s in ((2, 3, 5, 8), (1, 1, 5, 8), (1, 1, 5, 8), (8, 8))
    )
    same(
        "by matrix",
        torch_npu.npu_rotary_mul(x.npu(), cos.npu(), sin.npu(), "half", matrix.npu()),
        x.double() * cos.double() + x.double() @ matrix.double() * sin.double(),
        4 * TOLERANCE[dtype],
    )
    for mode in TURNS:
        query, key = given(2, 5, 4, 8, dtype=dtype), given(2, 5, 1, 8, dtype=dtype)
        cos, sin = given(2, 5, 1, 8, dtype=dtype), given(2, 5, 1, 8, dtype=dtype)
        q, k = torch_npu.npu_apply_rotary_pos_emb(
            query.npu(), key.npu(), cos.npu(), sin.npu(), "BSND", mode
        )
        for name, own, before in (("query", q, query), ("key", k, key)):
            d = before.double()
            same(f"{name} {mode}", own, d * cos.double() + TURNS[mode](d) * sin.double())
    x, cos, sin = (
        given(2, 3, 1, 64, dtype=dtype),
        given(2, 1, 1, 64, dtype=dtype),
        given(2, 1, 1, 64, dtype=dtype),
    )
    d = x.double().unflatten(-1, (32, 2)).transpose(-1, -2).flatten(-2)
    same(
        "interleave rope",
        torch_npu.npu_interleave_rope(x.npu(), cos.npu(), sin.npu()),
        d * cos.double() + half(d) * sin.double(),
    )
""",
        compared=3 * (2 * 3 * 4 + 1 + 3 * 2 + 1),
    )


def test_rotary_embeddings_from_a_cache(simulated: Simulated) -> None:
    check(
        simulated,
        """
def pick(angles, sections, order):
    if order == "default":
        starts = [0, sections[0], sections[0] + sections[1]]
        return torch.cat([angles[i, :, s : s + n] for i, (s, n) in enumerate(zip(starts, sections))], -1)
    chosen = angles[0].clone()
    for axis in (1, 2):
        chosen[:, axis : sections[1] * 3 : 3] = angles[axis, :, axis : sections[1] * 3 : 3]
    return chosen


def embed(tokens, cos, sin, size, mode):
    heads = tokens.double().unflatten(-1, (-1, size))
    turned, rest = heads[..., : 2 * cos.shape[-1]], heads[..., 2 * cos.shape[-1] :]
    a, b = turned.chunk(2, -1) if mode == "half" else (turned[..., ::2], turned[..., 1::2])
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    parts = (a * cos - b * sin, b * cos + a * sin)
    turned = torch.cat(parts, -1) if mode == "half" else torch.stack(parts, -1).flatten(-2)
    return torch.cat((turned, rest), -1).flatten(-2)


for dtype, mode, order, axes in itertools.product(
    FLOATS, ("half", "interleave"), ("default", "interleave"), (0, 3)
):
    size, tokens, sections = 16, 6, [2, 2, 2]
    positions = torch.randint(0, 20, (axes, tokens) if axes else (tokens,))
    query, key, cache = (
        given(tokens, 3 * size, dtype=dtype),
        given(tokens, size, dtype=dtype),
        given(20, 12, dtype=dtype),
    )
    q, k = torch_npu.npu_mrope(
        positions.npu(),
        query.npu(),
        key.npu(),
        cache.npu(),
        size,
        mrope_section=sections if axes else None,
        rotary_mode=mode,
        cache_mode=order,
    )
    cos, sin = cache.double()[positions].chunk(2, -1)
    if axes:
        cos, sin = pick(cos, sections, order), pick(sin, sections, order)
    same(f"query {dtype} {mode} {order} {axes}", q, embed(query, cos, sin, size, mode))
    same(f"key {dtype} {mode} {order} {axes}", k, embed(key, cos, sin, size, mode))
""",
        compared=3 * 2 * 2 * 2 * 2,
    )


def test_gated_linear_units_and_their_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        """
def swiglu(x, dim):
    a, b = x.chunk(2, dim)
    return F.silu(a) * b


def geglu(x, dim, approximate, left):
    a, b = x.chunk(2, dim)
    gelu = lambda t: F.gelu(t, approximate="tanh" if approximate else "none")
    return gelu(a) * b if left else a * gelu(b)


for dtype in FLOATS:
    for shape, dim in [((3, 8), -1), ((4, 3, 2), 0), ((2, 6, 5), 1)]:
        same_gradients(
            f"swiglu {dtype} {dim}",
            lambda x: torch_npu.npu_swiglu(x, dim),
            lambda x: swiglu(x, dim),
            given(*shape, dtype=dtype),
            tolerance=2 * TOLERANCE[dtype],
        )
        for approximate, left in itertools.product((0, 1), (False, True)):
            same_gradients(
                f"geglu {dtype} {dim} {approximate} {left}",
                lambda x: torch_npu.npu_geglu(x, dim, approximate, left)[0],
                lambda x: geglu(x, dim, approximate, left),
                given(*shape, dtype=dtype),
                tolerance=4 * TOLERANCE[dtype],
            )
    for approximate in ("none", "tanh"):
        x = given(3, 8, dtype=dtype)
        a, b = x.double().chunk(2, -1)
        same(
            "gelu mul",
            torch_npu.npu_gelu_mul(x.npu(), approximate=approximate),
            F.gelu(a, approximate=approximate) * b,
            2e-3 if dtype == torch.float32 else None,
        )
    for interleaved, counts in itertools.product((True, False), (None, torch.tensor([2, 1]))):
        x = given(5, 8, dtype=dtype) * 5
        d = x.double()
        a, b = (d[:, ::2], d[:, 1::2]) if interleaved else d.chunk(2, -1)
        a, b = a.clamp(max=3.0), b.clamp(-3.0, 3.0)
        expected = a * torch.sigmoid(1.7 * a) * (b + 0.5)
        result = torch_npu.npu_clipped_swiglu(
            x.npu(),
            group_index=None if counts is None else counts.npu(),
            alpha=1.7,
            limit=3.0,
            bias=0.5,
            interleaved=interleaved,
        )
        rows = 5 if counts is None else 3
        same(f"clipped {interleaved}", result[:rows], expected[:rows])
    same_gradients(
        f"fast gelu {dtype}",
        torch_npu.npu_fast_gelu,
        lambda x: x * torch.sigmoid(1.702 * x),
        given(3, 7, dtype=dtype),
        tolerance=2 * TOLERANCE[dtype],
    )
""",
        compared=3 * (3 * 2 + 3 * 4 * 2 + 2 + 4 + 2),
    )


def test_masked_softmaxes(simulated: Simulated) -> None:
    # For older chips torch_npu calls these two operators through the aclop interface.
    check(
        simulated,
        """
for dtype in FLOATS:
    for masks in [(2, 3, 4, 5), (2, 1, 4, 5), (1, 1, 4, 5)]:
        mask = torch.rand(masks) > 0.5
        x = given(2, 3, 4, 5, dtype=dtype)
        same_gradients(
            f"scaled masked {dtype} {masks}",
            lambda x: torch_npu.npu_scaled_masked_softmax(x, mask.npu(), 0.7, False),
            lambda x: (x * 0.7).masked_fill(mask, -1e4).softmax(-1),
            x,
        )
    triangle = torch.ones(5, 5, dtype=torch.bool).triu(1)
    x = given(2, 3, 5, 5, dtype=dtype)
    same(
        "triangular",
        torch_npu.npu_scaled_masked_softmax(x.npu(), triangle.expand(2, 3, 5, 5).npu(), 2.0, True),
        (x.double() * 2).masked_fill(triangle, -1e4).softmax(-1),
    )
""",
        compared=3 * (3 * 2 + 1),
        ASCENDENV_SIM_SOC="Ascend950PR_9589",
    )


def test_softmaxes_with_biases(simulated: Simulated) -> None:
    check(
        simulated,
        """
for dtype in FLOATS:
    x, mask = given(2, 3, 4, 5, dtype=dtype), torch.rand(2, 3, 4, 5) > 0.5
    same(
        "masked",
        torch._masked_softmax(x.npu(), mask.npu(), -1, 2),
        x.double().masked_fill(mask, -1e4).softmax(-1),
    )
    x, mask, bias = (
        given(6, 3, 4, 5, dtype=dtype),
        given(2, 4, 5, dtype=dtype),
        given(3, 4, 5, dtype=dtype),
    )
    expected = x.double() * 0.5 + bias.double() + mask.double().repeat(3, 1, 1).unsqueeze(1)
    same(
        "windows",
        torch_npu.npu_masked_softmax_with_rel_pos_bias(x.npu(), mask.npu(), bias.npu(), 0.5),
        expected.softmax(-1),
    )
    same(
        "no mask",
        torch_npu.npu_masked_softmax_with_rel_pos_bias(x.npu(), None, bias.npu()),
        (x.double() + bias.double()).softmax(-1),
    )
    qkv, bias = given(2, 5, 24, dtype=dtype), given(24, dtype=dtype)
    for own, reference in zip(
        torch._transform_bias_rescale_qkv(qkv.npu(), bias.npu(), 2),
        torch._transform_bias_rescale_qkv(qkv.double(), bias.double(), 2),
    ):
        same("qkv", own, reference)
""",
        compared=3 * 6,
    )


def test_what_does_not_fit_is_refused_by_name(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
refuses("rms", lambda: torch_npu.npu_rms_norm(torch.ones(3, 8).npu(), torch.ones(7).npu()))
refuses("swiglu", lambda: torch_npu.npu_clipped_swiglu(torch.ones(3, 8).npu(), limit=-1.0))
refuses("rotary", lambda: torch_npu.npu_rotary_mul(*(torch.ones(1, 1, 2, 7).npu() for _ in range(3))))
""",
    )
    assert "aclnnRmsNorm: a gamma of shape [7] cannot normalise" in seen["refused"]["rms"]
    assert "aclnnClippedSwiglu: the limit -1" in seen["refused"]["swiglu"]
    assert "do not divide into 2 parts" in seen["refused"]["rotary"]
