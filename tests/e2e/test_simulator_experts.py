"""Mixtures of experts on the simulated CANN: choosing, routing, grouped products, against plain PyTorch."""

from __future__ import annotations

from e2e.fused import Simulated, check, run

REFERENCE = """
def largest(values, k):
    return values.sort(stable=True, dim=-1, descending=True).indices[..., :k]


def by_expert(experts):
    '''Positions of the choices in the order of their experts.'''
    return experts.flatten().sort(stable=True).indices


def mapping(tokens, experts, k):
    chosen = torch.stack([torch.randperm(experts)[:k] for _ in range(tokens)])
    return torch.zeros(tokens, experts, dtype=torch.bool).scatter(1, chosen, True)
"""


def test_grouped_products(simulated: Simulated) -> None:
    check(
        simulated,
        """
for dtype in FLOATS:
    bound = 8 * TOLERANCE[dtype]
    xs = [given(m, k, dtype=dtype) for m, k in ((3, 8), (2, 4), (5, 8))]
    ws = [given(k, n, dtype=dtype) for k, n in ((8, 6), (4, 6), (8, 6))]
    bs = [given(6, dtype=torch.float32 if dtype == torch.bfloat16 else dtype) for _ in ws]
    expected = [x.double() @ w.double() + b.double() for x, w, b in zip(xs, ws, bs)]
    on_device = lambda tensors: [t.npu() for t in tensors]
    for own, reference in zip(
        torch_npu.npu_grouped_matmul(
            on_device(xs), on_device(ws), bias=on_device(bs), split_item=0, group_type=-1
        ),
        expected,
    ):
        same(f"many to many {dtype}", own, reference, bound)
    x, w = given(10, 8, dtype=dtype), given(4, 8, 6, dtype=dtype)
    ends, counts = torch.tensor([3, 3, 7, 10]), torch.tensor([3, 0, 4, 3])
    rows = torch.tensor([0] * 3 + [2] * 4 + [3] * 3)
    reference = torch.einsum("mk,mkn->mn", x.double(), w.double()[rows])
    for kind, groups in ((0, ends), (1, counts)):
        for name, weight in (
            ("one weight", [w.npu()]),
            ("turned", [w.transpose(1, 2).contiguous().npu().transpose(1, 2)]),
        ):
            (y,) = torch_npu.npu_grouped_matmul(
                [x.npu()],
                weight,
                group_list=groups.npu(),
                split_item=3,
                group_type=0,
                group_list_type=kind,
            )
            same(f"{name} {kind} {dtype}", y, reference, bound)
    (y,) = torch_npu.npu_grouped_matmul(
        [x.npu()], on_device(w.unbind()), group_list=ends.npu(), split_item=3, group_type=0
    )
    same(f"many weights {dtype}", y, reference, bound)
    total, w = given(6, 10, dtype=dtype), given(10, 5, dtype=dtype)
    (y,) = torch_npu.npu_grouped_matmul(
        [total.npu()], [w.npu()], group_list=ends.npu(), split_item=3, group_type=2
    )
    pieces = [total[:, a:b].double() @ w[a:b].double() for a, b in ((0, 3), (3, 3), (3, 7), (7, 10))]
    same(f"summed {dtype}", y, torch.stack(pieces), bound)
    for act, function in ((1, F.relu), (2, lambda t: F.gelu(t, approximate="tanh")), (5, F.silu)):
        w = given(4, 8, 6, dtype=dtype)
        (y,) = torch_npu.npu_grouped_matmul(
            [x.npu()], [w.npu()], group_list=ends.npu(), split_item=3, group_type=0, act_type=act
        )
        same(
            f"activation {act} {dtype}",
            y,
            function(torch.einsum("mk,mkn->mn", x.double(), w.double()[rows])),
            bound,
        )
for dtype in HALVES:
    x, w, ends = given(10, 8, dtype=dtype), given(10, 6, dtype=dtype), torch.tensor([3, 7, 10])
    sums = given(3, 8, 6)
    own = sums.npu()
    torch_npu.npu_grouped_matmul_add_(
        own, x.npu(), w.npu(), ends.npu(), transpose_x=True, transpose_weight=False, group_type=2
    )
    pieces = [x[a:b].double().t() @ w[a:b].double() for a, b in ((0, 3), (3, 7), (7, 10))]
    same(f"added {dtype}", own, sums.double() + torch.stack(pieces), 1e-4)
""",
        compared=3 * (3 + 4 + 1 + 1 + 3) + 2,
    )


def test_grouped_products_of_quantised_tensors(simulated: Simulated) -> None:
    check(
        simulated,
        """
x = torch.randint(-128, 128, (10, 32), dtype=torch.int8)
w = torch.randint(-128, 128, (3, 32, 8), dtype=torch.int8)
ends, rows = torch.tensor([3, 7, 10]), torch.tensor([0] * 3 + [1] * 4 + [2] * 3)
product = torch.einsum("mk,mkn->mn", x.double(), w.double()[rows])
scale, token = given(3, 8, low=1e-3, high=2e-3), given(10, low=0.5, high=1.0)
(y,) = torch_npu.npu_grouped_matmul(
    [x.npu()],
    [w.npu()],
    scale=[scale.bfloat16().npu()],
    per_token_scale=[token.npu()],
    group_list=ends.npu(),
    split_item=3,
    group_type=0,
    output_dtype=torch.bfloat16,
)
same("scaled", y, product * scale.bfloat16().double()[rows] * token.double().unsqueeze(1))
(y,) = torch_npu.npu_grouped_matmul(
    [x.npu()], [w.npu()], group_list=ends.npu(), split_item=3, group_type=0, output_dtype=torch.int32
)
same("int32", y, product)
half, weights = given(10, 32, dtype=torch.float16), torch.randint(-8, 8, (3, 32, 8), dtype=torch.int8)
scale, offset = given(3, 8, dtype=torch.float16) / 8, given(3, 8, dtype=torch.float16)
(y,) = torch_npu.npu_grouped_matmul(
    [half.npu()],
    [weights.npu()],
    antiquant_scale=[scale.npu()],
    antiquant_offset=[offset.npu()],
    group_list=ends.npu(),
    split_item=3,
    group_type=0,
)
same(
    "weights",
    y,
    torch.einsum(
        "mk,mkn->mn",
        half.double(),
        ((weights + offset.double().unsqueeze(1)) * scale.double().unsqueeze(1))[rows],
    ),
    2e-2,
)
""",
        compared=3,
    )


def test_choosing_experts(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in FLOATS:
    for shape in ((6, 8), (2, 3, 8)):
        x, finished = given(*shape, dtype=dtype), torch.rand(shape[:-1]) > 0.7
        weights = x.float().softmax(-1)
        chosen = largest(weights, 3)
        y, experts, rows = torch_npu.npu_moe_gating_top_k_softmax(x.npu(), finished.npu(), 3)
        same("weights", y, weights.gather(-1, chosen))
        same("experts", experts, chosen.masked_fill(finished.unsqueeze(-1), 8))
        same("rows", rows.flatten(0, -2), torch.arange(18).view(3, 6).t())
        for renorm in (0, 1):
            y, experts, softmax = torch_npu.npu_moe_gating_top_k_softmax_v2(
                x.npu(), k=3, finished=finished.npu(), renorm=renorm, output_softmax=True
            )
            chosen = largest(x.float() if renorm else weights, 3)
            same(
                "v2 weights",
                y,
                x.float().gather(-1, chosen).softmax(-1) if renorm else weights.gather(-1, chosen),
            )
            same("v2 experts", experts, chosen.masked_fill(finished.unsqueeze(-1), 8))
            if not renorm:
                same("v2 softmax", softmax, weights)
    for kind, mode, bias in itertools.product((0, 1), (0, 1), (None, given(16, dtype=dtype))):
        x = given(5, 16, dtype=dtype)
        weights = x.float().sigmoid() if kind else x.float().softmax(-1)
        scores = weights if bias is None else weights + bias.float()
        groups = scores.unflatten(-1, (4, 4))
        quality = groups.topk(2).values.sum(-1) if mode else groups.amax(-1)
        outside = torch.ones(5, 4, dtype=torch.bool).scatter(1, largest(quality, 2), False)
        chosen = largest(groups.masked_fill(outside.unsqueeze(-1), -torch.inf).flatten(1), 3)
        expected = weights.gather(-1, chosen)
        if kind:
            expected = expected / (expected.sum(-1, keepdim=True) + 1e-20)
        y, experts, everything = torch_npu.npu_moe_gating_top_k(
            x.npu(),
            3,
            bias=None if bias is None else bias.npu(),
            k_group=2,
            group_count=4,
            group_select_mode=mode,
            norm_type=kind,
            out_flag=True,
            routed_scaling_factor=2.5,
        )
        same("grouped weights", y, expected * 2.5, 4 * TOLERANCE[dtype])
        same("grouped experts", experts, chosen)
        same("all weights", everything, weights, 1e-5)
""",
        compared=3 * (2 * (3 + 5) + 8 * 3),
    )


def test_routing_tokens_to_experts_and_back(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in FLOATS:
    tokens, k, count = 7, 2, 5
    x, experts = given(tokens, 8, dtype=dtype), torch.randint(0, count, (tokens, k), dtype=torch.int32)
    numbers = torch.arange(tokens * k, dtype=torch.int32).view(k, tokens).t().contiguous()
    for active in (tokens, 3):
        expanded, index, sorted_experts = torch_npu.npu_moe_init_routing(
            x.npu(), numbers.npu(), experts.npu(), active
        )
        order = numbers.flatten()[by_expert(experts)]
        same("old expanded", expanded, x[order[: active * k] % tokens])
        same("old index", index, order.argsort())
        same("old experts", sorted_experts, experts.flatten().sort().values)
    order = by_expert(experts)
    amounts = torch.bincount(experts.flatten(), minlength=count)
    for kind, row_kind in itertools.product((0, 1, 2), (0, 1)):
        expanded, index, counts, _ = torch_npu.npu_moe_init_routing_v2(
            x.npu(),
            experts.npu(),
            expert_num=count,
            active_num=tokens * k,
            drop_pad_mode=0,
            expert_tokens_num_type=kind,
            expert_tokens_num_flag=True,
            quant_mode=-1,
            active_expert_range=[0, count],
            row_idx_type=row_kind,
        )
        same("expanded", expanded, x[order // k])
        same("index", index, order if row_kind else order.argsort())
        pairs = torch.zeros(count, 2, dtype=torch.int64)
        pairs[: (amounts > 0).sum()] = torch.stack((amounts.nonzero().flatten(), amounts[amounts > 0]), 1)
        same("counts", counts, (amounts.cumsum(0), amounts, pairs)[kind])
    inside = (experts.flatten() >= 1) & (experts.flatten() < 4)
    own = order[inside[order]]
    expanded, index, counts, _ = torch_npu.npu_moe_init_routing_v2(
        x.npu(),
        experts.npu(),
        expert_num=count,
        active_num=tokens * k,
        drop_pad_mode=0,
        expert_tokens_num_type=1,
        expert_tokens_num_flag=True,
        quant_mode=-1,
        active_expert_range=[1, 4],
        row_idx_type=0,
    )
    places = torch.full((tokens * k,), -1)
    places[own] = torch.arange(len(own))
    same("range expanded", expanded[: len(own)], x[own // k])
    same("range index", index, places)
    same("range counts", counts, amounts[1:4])
    rows, scales, skip = (
        given(tokens * k, 8, dtype=dtype),
        given(tokens, k, dtype=dtype),
        given(tokens, 8, dtype=dtype),
    )
    bias, places = given(count, 8, dtype=dtype), torch.randperm(tokens * k, dtype=torch.int32)
    for mode in (0, 2):
        own = places.view(k, tokens).t() if mode == 0 else places.view(tokens, k)
        expected = (
            (rows.double()[own.long()] + bias.double()[experts.long()]) * scales.double().unsqueeze(-1)
        ).sum(1)
        y = torch_npu.npu_moe_finalize_routing(
            rows.npu(),
            skip.npu(),
            skip.npu(),
            bias.npu(),
            scales.npu(),
            places.npu(),
            experts.npu(),
            mode,
        )
        same(f"finalized {mode}", y, expected + 2 * skip.double(), 4 * TOLERANCE[dtype])
experts = torch.randint(0, 6, (4, 2), dtype=torch.int32)
x, order = given(4, 8, dtype=torch.float16), by_expert(experts)
y, index, counts, scale = torch_npu.npu_moe_init_routing_v2(
    x.npu(),
    experts.npu(),
    expert_num=6,
    active_num=8,
    drop_pad_mode=0,
    expert_tokens_num_type=1,
    expert_tokens_num_flag=True,
    quant_mode=1,
    active_expert_range=[0, 6],
    row_idx_type=0,
)
rows = x.double()[order // 2]
same("quantised scale", scale, rows.abs().amax(-1) / 127)
same("quantised", y, (rows / (rows.abs().amax(-1, keepdim=True) / 127)).round(), 1)
y, index, counts, _, scale = torch_npu.npu_moe_init_routing_quant(
    x.npu(), experts.npu(), active_num=8, expert_num=6, expert_tokens_num_mode=2, quant_mode=1
)
rows, largest_of = x.double()[order // 2], x.double()[order // 2].abs().amax(-1)
same("other quantised scale", scale, largest_of / 127)
same("other quantised", y, (rows / (largest_of.unsqueeze(1) / 127)).round(), 1)
same("other index", index, order.argsort())
same("other counts", counts, torch.bincount(experts.flatten(), minlength=6))
y, index, *_ = torch_npu.npu_moe_init_routing_v2(
    x.npu(),
    experts.npu(),
    expert_num=6,
    active_num=8,
    expert_capacity=1,
    drop_pad_mode=1,
    expert_tokens_num_type=1,
    expert_tokens_num_flag=True,
    quant_mode=-1,
    active_expert_range=[0, 6],
    row_idx_type=0,
)
expected, places = torch.zeros(6, 8, dtype=torch.float64), torch.full((8,), -1)
for choice in order.tolist():
    expert = int(experts.flatten()[choice])
    if not (places == expert).any():
        expected[expert], places[choice] = x[choice // 2].double(), expert
same("padded", y.view(6, 8), expected)
same("padded index", index, places)
sorted_experts = torch.tensor([0, 0, 1, 3, 3, 3], dtype=torch.int32)
same(
    "ends",
    torch_npu.npu_moe_compute_expert_tokens(sorted_experts.npu(), 5),
    torch.tensor([2, 3, 3, 6, 6]),
)
counts = torch.tensor([[2, 0, 1], [1, 3, 1]])
x, scale = given(8, 4, dtype=torch.float16), given(8)
order = torch.tensor([0, 1, 3, 4, 5, 6, 2, 7])
y, scales, index, totals = torch_npu.npu_moe_re_routing(
    x.npu(), counts.npu(), per_token_scales=scale.npu()
)
same("by expert", y, x[order])
same("scales by expert", scales, scale[order])
same("index by expert", index, order)
same("totals", totals, counts.sum(0))
""",
        compared=3 * (2 * 3 + 6 * 3 + 3 + 2) + 2 + 4 + 2 + 1 + 4,
    )


def test_permuting_tokens_with_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
def unpermuted(rows, order, probs, k):
    tokens = rows[order.argsort()].unflatten(0, (-1, k))
    return (tokens if probs is None else tokens * probs.unsqueeze(-1)).sum(1)


for dtype, k in itertools.product(FLOATS, (1, 3)):
    x, experts = given(6, 8, dtype=dtype), torch.randint(0, 5, (6, k))
    order = by_expert(experts)
    same_gradients(
        f"permute {dtype} {k}",
        lambda x: torch_npu.npu_moe_token_permute(x, experts.npu())[0],
        lambda x: x[order // k],
        x,
        tolerance=2 * TOLERANCE[dtype],
    )
    same("places", torch_npu.npu_moe_token_permute(x.npu(), experts.npu())[1], order.argsort())
    dropped = torch_npu.npu_moe_token_permute(x.npu(), experts.npu(), num_out_tokens=4)[0]
    same("dropped", dropped, x[order[:4] // k])
    places = order.argsort().int().npu()
    rows, probs = given(6 * k, 8, dtype=dtype), given(6, k, dtype=dtype)
    if k == 1:
        same_gradients(
            f"unpermute {dtype}",
            lambda r: torch_npu.npu_moe_token_unpermute(r, places),
            lambda r: unpermuted(r, order, None, k),
            rows,
            tolerance=2 * TOLERANCE[dtype],
        )
    same_gradients(
        f"unpermute with probabilities {dtype} {k}",
        lambda r, p: torch_npu.npu_moe_token_unpermute(r, places, p),
        lambda r, p: unpermuted(r, order, p, k),
        rows,
        probs,
        tolerance=4 * TOLERANCE[dtype],
    )
""",
        compared=3 * (2 * (2 + 2 + 3) + 2),
    )


def test_permuting_tokens_by_a_map_with_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
def routed(chosen, padded, capacity):
    turned = chosen.t()
    if not padded:
        return turned.nonzero().unbind(1)
    tokens = turned.char().sort(stable=True, dim=-1, descending=True).indices[:, :capacity]
    return torch.arange(turned.shape[0]).repeat_interleave(capacity), tokens.flatten()


for dtype, padded in itertools.product((torch.float32, torch.bfloat16), (False, True)):
    tokens, count, k, capacity = 6, 4, 2, 3
    chosen, x, probs = (
        mapping(tokens, count, k),
        given(tokens, 8, dtype=dtype),
        given(tokens, count, dtype=dtype),
    )
    places = count * capacity
    expert_of, token_of = routed(chosen, padded, capacity)
    bound = 4 * TOLERANCE[dtype]
    own = [leaf(x, "npu"), leaf(probs, "npu")]
    reference = [leaf(x, "cpu"), leaf(probs, "cpu")]
    y, p, index = torch_npu.npu_moe_token_permute_with_routing_map(
        own[0], chosen.npu(), probs=own[1], num_out_tokens=places, drop_and_pad=padded
    )
    expected, expected_probs = reference[0][token_of], reference[1][token_of, expert_of]
    same("tokens", y.detach(), expected)
    same("probabilities", p.detach(), expected_probs)
    same("index", index, token_of if padded else token_of.sort(stable=True).indices)
    grad, grad_probs = given(places, 8, dtype=dtype), given(places, dtype=dtype)
    torch.autograd.backward([y, p], [grad.npu(), grad_probs.npu()])
    torch.autograd.backward([expected, expected_probs], [grad.double(), grad_probs.double()])
    same("gradient of tokens", own[0].grad, reference[0].grad, bound)
    same("gradient of probabilities", own[1].grad, reference[1].grad, bound)
    sorted_places = index.detach()

    def back(rows, probs):
        return torch_npu.npu_moe_token_unpermute_with_routing_map(
            rows, sorted_places, [tokens, 8], probs=probs, routing_map=chosen.npu(), drop_and_pad=padded
        )

    def back_reference(rows, probs):
        return torch.zeros(tokens, 8, dtype=torch.float64).index_add(
            0, token_of, rows * probs[token_of, expert_of].unsqueeze(-1)
        )

    same_gradients(
        f"back {dtype} {padded}",
        back,
        back_reference,
        given(places, 8, dtype=dtype),
        probs,
        tolerance=bound,
    )
""",
        compared=2 * 2 * (5 + 3),
    )


def test_what_experts_cannot_do_is_refused_by_name(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
x = torch.ones(4, 8, dtype=torch.float16).npu()
refuses("renorm", lambda: torch_npu.npu_moe_gating_top_k(x, 2, renorm=1))
w = torch.ones(3, 7, 6, dtype=torch.float16).npu()
refuses(
    "shape",
    lambda: torch_npu.npu_grouped_matmul(
        [x], [w], group_list=torch.tensor([1, 2, 4]).npu(), split_item=3, group_type=0
    ),
)
refuses("index", lambda: torch_npu.npu_moe_token_permute(x, torch.ones(3, 2, dtype=torch.int32).npu()))
""",
    )
    assert "aclnnMoeGatingTopK: renorm 1 is not implemented" in seen["refused"]["renorm"]
    assert "do not fit together" in seen["refused"]["shape"]
    assert "3 rows of indices for 4 tokens" in seen["refused"]["index"]
    for words in seen["refused"].values():
        assert "error code is 161002" in words
