"""Attention of the simulated CANN for inference, with its caches."""

from __future__ import annotations

from e2e.fused import Simulated, check, run

# The definition for one sequence: heads, rows, features.
REFERENCE = """
def attend(q, k, v, scale, masked=None, bias=None, sink=None):
    q, k, v = q.double(), k.double(), v.double()
    group = q.shape[0] // k.shape[0]
    scores = q @ k.repeat_interleave(group, 0).transpose(-1, -2) * scale
    if bias is not None:
        scores = scores + bias.double()
    if masked is not None:
        scores = scores.masked_fill(masked, -torch.inf)
    if sink is not None:
        scores = torch.cat((scores, sink.double().view(-1, 1, 1).expand(-1, scores.shape[1], 1)), -1)
    weights = scores.softmax(-1)[..., : k.shape[1]]
    return weights @ v.repeat_interleave(group, 0), scores.logsumexp(-1, keepdim=True)


def stacked(q, k, v, scale, masked=lambda b: None, **options):
    return torch.stack([attend(q[b], k[b], v[b], scale, masked(b), **options)[0] for b in range(len(q))])


def laid(tensor, layout):
    if layout == "BNSD":
        return tensor
    if layout == "NBSD":
        return tensor.transpose(0, 1)
    return tensor.transpose(1, 2) if layout == "BSND" else tensor.transpose(1, 2).flatten(2)


def causal(rows, columns):
    return torch.ones(rows, columns, dtype=torch.bool).triu(1 + columns - rows)


PATTERN = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
"""


def test_prompts_in_every_layout(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype, (heads, shared) in itertools.product(HALVES, ((4, 4), (4, 2))):
    q, k, v = (given(2, n, s, 16, dtype=dtype) for n, s in ((heads, 5), (shared, 6), (shared, 6)))
    expected, bound = stacked(q, k, v, 0.3), 4 * TOLERANCE[dtype]
    for layout in ("BNSD", "BSND", "BSH", "BNSD_BSND", "BSH_NBSD", "BSND_NBSD"):
        source, _, target = layout.partition("_")
        on_device = [laid(t, source).contiguous().npu() for t in (q, k, v)]
        y, _ = torch_npu.npu_fused_infer_attention_score(
            *on_device, num_heads=heads, num_key_value_heads=shared, input_layout=layout, scale=0.3
        )
        same(f"fused {layout} {dtype}", y, laid(expected, target or source), bound)
        if layout in ("BNSD", "BSND", "BSH"):
            y = torch_npu.npu_prompt_flash_attention(
                *on_device,
                num_heads=heads,
                num_key_value_heads=shared,
                input_layout=layout,
                scale_value=0.3,
                next_tokens=65535,
            )
            same(f"prompt {layout} {dtype}", y, laid(expected, layout), bound)
    mask = torch.rand(2, 1, 5, 6) > 0.5
    mask[..., 0] = False
    for name, kind, given_mask, masked in (
        ("given", 0, mask, lambda b: mask[b]),
        ("whole", 1, mask, lambda b: mask[b]),
        ("causal", 3, PATTERN, lambda b: causal(5, 6)),
    ):
        y, sums = torch_npu.npu_fused_infer_attention_score(
            q.npu(),
            k.npu(),
            v.npu(),
            num_heads=heads,
            num_key_value_heads=shared,
            input_layout="BNSD",
            scale=0.3,
            atten_mask=given_mask.npu(),
            sparse_mode=kind,
            softmax_lse_flag=True,
        )
        same(f"{name} {dtype}", y, stacked(q, k, v, 0.3, masked), bound)
        same(
            f"{name} sums",
            sums,
            torch.stack([attend(q[b], k[b], v[b], 0.3, masked(b))[1] for b in range(2)]),
            1e-4,
        )
    shift = given(2, heads, 5, 6, dtype=dtype)
    y = torch_npu.npu_prompt_flash_attention(
        q.npu(),
        k.npu(),
        v.npu(),
        pse_shift=shift.npu(),
        num_heads=heads,
        num_key_value_heads=shared,
        input_layout="BNSD",
        scale_value=0.3,
        next_tokens=65535,
    )
    same(
        "shift",
        y,
        torch.stack([attend(q[b], k[b], v[b], 0.3, bias=shift[b])[0] for b in range(2)]),
        bound,
    )
    lengths = [4, 6]
    y, _ = torch_npu.npu_fused_infer_attention_score(
        q.npu(),
        k.npu(),
        v.npu(),
        num_heads=heads,
        num_key_value_heads=shared,
        input_layout="BNSD",
        scale=0.3,
        actual_seq_lengths=[5, 3],
        actual_seq_lengths_kv=lengths,
    )
    same("first length", y[0], attend(q[0], k[0][:, :4], v[0][:, :4], 0.3)[0], bound)
    same("second length", y[1][:, :3], attend(q[1][:, :3], k[1], v[1], 0.3)[0], bound)
""",
        compared=2 * 2 * (6 + 3 + 6 + 1 + 2),
    )


def test_one_new_token_with_a_cache(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in HALVES:
    bound = 4 * TOLERANCE[dtype]
    q, k, v = (given(2, n, s, 16, dtype=dtype) for n, s in ((4, 1), (2, 40), (2, 40)))
    lengths = [7, 33]
    expected = torch.stack(
        [attend(q[b], k[b][:, :n], v[b][:, :n], 0.3)[0] for b, n in enumerate(lengths)]
    )
    for layout in ("BNSD", "BSH", "BSND"):
        on_device = [laid(t, layout).contiguous().npu() for t in (q, k, v)]
        y = torch_npu.npu_incre_flash_attention(
            *on_device,
            actual_seq_lengths=lengths,
            num_heads=4,
            num_key_value_heads=2,
            input_layout=layout,
            scale_value=0.3,
        )
        same(f"incremental {layout} {dtype}", y, laid(expected, layout), bound)
    mask = torch.rand(2, 40) > 0.5
    mask[:, 0] = False
    y = torch_npu.npu_incre_flash_attention(
        q.npu(),
        k.npu(),
        v.npu(),
        atten_mask=mask.npu(),
        num_heads=4,
        num_key_value_heads=2,
        input_layout="BNSD",
        scale_value=0.3,
    )
    same(f"masked {dtype}", y, stacked(q, k, v, 0.3, lambda b: mask[b]), bound)
    tables = torch.tensor([[3, 0, 5], [1, 4, 2]], dtype=torch.int32)
    paged = torch.zeros(6, 16, 2 * 16, dtype=dtype), torch.zeros(6, 16, 2 * 16, dtype=dtype)
    for cache, source in zip(paged, (k, v)):
        for b, n in enumerate(lengths):
            for row in range(n):
                cache[tables[b, row // 16], row % 16] = source[b, :, row].flatten()
    by_head = [c.view(6, 16, 2, 16).transpose(1, 2).contiguous() for c in paged]
    for name, caches in (("rows", paged), ("heads", by_head)):
        y, _ = torch_npu.npu_fused_infer_attention_score(
            laid(q, "BSH").contiguous().npu(),
            caches[0].npu(),
            caches[1].npu(),
            num_heads=4,
            num_key_value_heads=2,
            input_layout="BSH",
            scale=0.3,
            block_table=tables.npu(),
            block_size=16,
            actual_seq_lengths_kv=lengths,
        )
        same(f"paged {name} {dtype}", y, laid(expected, "BSH"), bound)
    small = [torch.randint(-128, 128, (2, 2, 40, 16), dtype=torch.int8) for _ in range(2)]
    scales, offsets = given(2, 2, 1, 16, dtype=dtype) / 50, given(2, 2, 1, 16, dtype=dtype) * 9
    restored = [(t.double() + offsets[i].double()) * scales[i].double() for i, t in enumerate(small)]
    y = torch_npu.npu_incre_flash_attention(
        q.npu(),
        small[0].npu(),
        small[1].npu(),
        antiquant_scale=scales.npu(),
        antiquant_offset=offsets.npu(),
        num_heads=4,
        num_key_value_heads=2,
        input_layout="BNSD",
        scale_value=0.3,
    )
    same(f"int8 cache {dtype}", y, stacked(q, *restored, 0.3), bound)
""",
        compared=2 * (3 + 1 + 2 + 1),
    )


def test_sequences_of_different_lengths_ropes_and_sinks(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype in HALVES:
    bound = 4 * TOLERANCE[dtype]
    q, k, v = (given(t, n, 32, dtype=dtype) for t, n in ((6, 4), (9, 2), (9, 2)))
    q_rope, k_rope = given(6, 4, 16, dtype=dtype), given(9, 2, 16, dtype=dtype)
    queries, keys = [2, 6], [4, 9]

    def joined(rope):
        parts, first, start = [], 0, 0
        for a, b in zip(queries, keys):
            own = [t.transpose(0, 1) for t in (q[first:a], k[start:b], v[start:b])]
            if rope:
                own[0] = torch.cat((own[0], q_rope[first:a].transpose(0, 1)), -1)
                own[1] = torch.cat((own[1], k_rope[start:b].transpose(0, 1)), -1)
            parts.append(attend(*own, 0.3, causal(a - first, b - start))[0].transpose(0, 1))
            first, start = a, b
        return torch.cat(parts)

    common = dict(
        num_heads=4,
        num_key_value_heads=2,
        scale=0.3,
        atten_mask=PATTERN.npu(),
        sparse_mode=3,
        actual_seq_lengths=queries,
        actual_seq_lengths_kv=keys,
    )
    y, _ = torch_npu.npu_fused_infer_attention_score(
        q.npu(), k.npu(), v.npu(), input_layout="TND", **common
    )
    same(f"ragged {dtype}", y, joined(False), bound)
    y, _ = torch_npu.npu_fused_infer_attention_score(
        q.npu(),
        k.npu(),
        v.npu(),
        query_rope=q_rope.npu(),
        key_rope=k_rope.npu(),
        input_layout="TND",
        **common,
    )
    same(f"rope {dtype}", y, joined(True), bound)
    y, _ = torch_npu.npu_fused_infer_attention_score(
        q.npu(), k.npu(), v.npu(), input_layout="TND_NTD", **common
    )
    same(f"heads first {dtype}", y, joined(False).transpose(0, 1), bound)
q, k, v = (given(2, n, s, 16, dtype=torch.bfloat16) for n, s in ((4, 5), (2, 6), (2, 6)))
sink = given(4, dtype=torch.bfloat16)
y, _ = torch_npu.npu_fused_infer_attention_score_v2(
    q.npu(),
    k.npu(),
    v.npu(),
    num_query_heads=4,
    num_key_value_heads=2,
    input_layout="BNSD",
    softmax_scale=0.3,
    learnable_sink=sink.npu(),
)
same("sink", y, stacked(q, k, v, 0.3, sink=sink), 4 * TOLERANCE[torch.bfloat16])
""",
        compared=2 * 3 + 1,
    )


def test_joining_the_results_for_parts_of_the_keys(simulated: Simulated) -> None:
    check(
        simulated,
        """
parts, sums = [given(6, 16) for _ in range(3)], [given(6) for _ in range(3)]
shares = torch.stack(sums).double().softmax(0).unsqueeze(-1)
out, total = torch_npu.npu_attention_update([t.npu() for t in sums], [t.npu() for t in parts], 1)
same("joined", out, (torch.stack(parts).double() * shares).sum(0))
same("joined sums", total, torch.stack(sums).double().logsumexp(0))
""",
        compared=2,
    )


def test_choosing_the_next_tokens(simulated: Simulated) -> None:
    check(
        simulated,
        """
for dtype in FLOATS:
    logits = torch.stack([torch.randperm(20) for _ in range(4)]).to(dtype) / 4
    k, p = torch.tensor([1, 3, 20, 7], dtype=torch.int32), torch.tensor([0.5, 0.9, 0.6, 1.0], dtype=dtype)
    expected = torch.full((4, 20), -torch.inf, dtype=torch.float64)
    for row in range(4):
        best = logits[row].double().sort(descending=True)
        shares = best.values[: k[row]].softmax(0)
        kept = int((shares.cumsum(0) - shares < p[row].double()).sum())
        expected[row, best.indices[:kept]] = best.values[:kept]
    ours = torch_npu.npu_top_k_top_p(logits.npu(), p.npu(), k.npu()).cpu()
    same("chosen", ours.isinf(), expected.isinf())
    same("values", ours.nan_to_num(neginf=0), expected.nan_to_num(neginf=0))
""",
        compared=3 * 2,
    )


def test_writing_and_reading_caches(simulated: Simulated) -> None:
    check(
        simulated,
        """
for dtype in FLOATS:
    data, updates = given(3, 2, 8, 4, dtype=dtype), given(3, 2, 2, 4, dtype=dtype)
    starts = torch.tensor([0, 5, 6])
    expected = data.clone()
    for b, start in enumerate(starts.tolist()):
        expected[b, :, start : start + 2] = updates[b]
    same("update", torch_npu.scatter_update(data.npu(), starts.npu(), updates.npu(), -2), expected)
    own = data.npu()
    torch_npu.scatter_update_(own, starts.npu(), updates.npu(), -2)
    same("update in place", own, expected)
    key, value = given(5, 2, 16, dtype=dtype), given(5, 2, 16, dtype=dtype)
    slots = torch.tensor([3, -1, 8, 0, 11], dtype=torch.int32)
    for mode, shape in (("Norm", (3, 4, 2, 16)), ("PA_NZ", (3, 2, 4, 16))):
        caches = given(*shape, dtype=dtype), given(*shape, dtype=dtype)
        on_device = [c.npu() for c in caches]
        torch_npu.npu_scatter_pa_kv_cache(
            key.npu(), value.npu(), *on_device, slots.npu(), cache_mode=mode
        )
        for cache, own, tokens in zip(caches, on_device, (key, value)):
            for token, slot in enumerate(slots.tolist()):
                if slot >= 0 and mode == "Norm":
                    cache[slot // 4, slot % 4] = tokens[token]
                elif slot >= 0:
                    cache[slot // 4, :, slot % 4] = tokens[token].view(2, 16)
            same(f"scatter {mode}", own, cache)
    cache, tables = given(6, 4, 2, 16, dtype=dtype), torch.tensor([[5, 2], [0, 1]], dtype=torch.int32)
    lengths = torch.tensor([6, 3], dtype=torch.int32)
    out = torch.zeros(9, 2, 16, dtype=dtype).npu(), torch.zeros(9, 2, 16, dtype=dtype).npu()
    torch_npu.npu_gather_pa_kv_cache(cache.npu(), cache.npu(), tables.npu(), lengths.npu(), *out)
    expected = torch.cat((cache[5], cache[2][:2], cache[0][:3]))
    same("gather keys", out[0], expected)
    same("gather values", out[1], expected)
data = torch.zeros(2, 3, 8, dtype=torch.int8)
updates, scales = (
    given(2, 1, 8, dtype=torch.bfloat16),
    given(1, 1, 8, low=0.02, high=0.05, dtype=torch.bfloat16),
)
expected = data.double()
expected[0, 1], expected[1, 2] = (updates.double() / scales.double()).round().clamp(-128, 127)[:, 0]
same(
    "quantised",
    torch_npu.npu_quant_scatter(
        data.npu(),
        torch.tensor([1, 2], dtype=torch.int32).npu(),
        updates.npu(),
        scales.npu(),
        None,
        -2,
        -1,
        "update",
    ),
    expected,
    1,
)
""",
        compared=3 * (2 + 4 + 2) + 1,
    )


def test_latent_caches(simulated: Simulated) -> None:
    check(
        simulated,
        """
def rms(x, gamma, epsilon=1e-5):
    x = x.double()
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * gamma.double()


def embed(x, cos, sin):
    x = x.double().unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
    a, b = x.chunk(2, -1)
    return x * cos.double() + torch.cat((-b, a), -1) * sin.double()


def filled(shape, values, slots, mode, rows, piece):
    cache = torch.full(shape, 9.0, dtype=torch.float64)
    flat = cache.view(shape[0], -1, rows, piece) if "NZ" in mode else cache.view(-1, values.shape[-1])
    for token, slot in enumerate(slots):
        if "NZ" in mode:
            flat[slot // rows, :, slot % rows] = values[token].view(-1, piece)
        else:
            flat[slot] = values[token]
    return cache


for dtype, mode, quantised in itertools.product(
    HALVES, ("Norm", "PA", "PA_NZ", "PA_BLK_BNSD", "PA_BLK_NZ"), (False, True)
):
    batches, tokens, rows = 2, 20, 16
    kv, gamma = given(batches, 1, tokens, 512 + 64, dtype=dtype), given(512, dtype=dtype)
    cos, sin = given(batches, 1, tokens, 64, dtype=dtype), given(batches, 1, tokens, 64, dtype=dtype)
    stored, piece = (torch.int8, 32) if quantised else (dtype, 16)
    shape = (batches, 1, 24) if mode == "Norm" else (6, rows, 1)
    caches = [torch.full((*shape, n), 9, dtype=stored) for n in (64, 512)]
    if mode == "Norm":
        index = torch.stack([torch.randperm(24)[:tokens] for _ in range(batches)])
        slots = (index + torch.arange(batches).unsqueeze(1) * 24).flatten().tolist()
    elif "BLK" in mode:
        pages = [4, 0, 3, 5]
        index = torch.tensor(pages) * rows
        slots = [
            pages[b * 2 + t // rows] * rows + t % rows for b in range(batches) for t in range(tokens)
        ]
    else:
        index = torch.randperm(6 * rows)[: batches * tokens]
        slots = index.tolist()
    scales = (
        dict(k_rope_scale=given(64).npu() * 20, c_kv_scale=given(512).npu() * 20) if quantised else {}
    )
    key, value = embed(kv[..., 512:], cos, sin).view(-1, 64), rms(kv[..., :512], gamma).view(-1, 512)
    k, v, k_out, v_out = torch_npu.npu_kv_rmsnorm_rope_cache(
        kv.npu(),
        gamma.npu(),
        cos.npu(),
        sin.npu(),
        index.npu(),
        *(c.npu() for c in caches),
        cache_mode=mode,
        is_output_kv=mode != "Norm",
        **scales,
    )
    for own, values, cache, name in (
        (k, key, caches[0], "k_rope_scale"),
        (v, value, caches[1], "c_kv_scale"),
    ):
        if quantised:
            values = (values * scales[name].cpu().double()).round().clamp(-128, 127)
        same(
            f"{mode} {name} {dtype}",
            own,
            filled(cache.shape, values, slots, mode, rows, piece),
            1 if quantised else 2 * TOLERANCE[dtype],
        )
    if mode != "Norm":
        same(f"{mode} keys", k_out.view(-1, 64), key, 2 * TOLERANCE[dtype])
        same(f"{mode} values", v_out.view(-1, 512), value, 2 * TOLERANCE[dtype])
""",
        compared=2 * 2 * (5 * 2 + 4 * 2),
    )


def test_what_inference_cannot_do_is_refused_by_name(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
q, k, v = (given(1, 2, 4, 16, dtype=torch.float16).npu() for _ in range(3))


def fused(**options):
    return torch_npu.npu_fused_infer_attention_score(q, k, v, num_heads=2, input_layout="BNSD", **options)


refuses("padding", lambda: fused(query_padding_size=torch.tensor([1]).npu()))
refuses("lengths", lambda: fused(actual_seq_lengths=[1, 2, 3]))
refuses("prefix", lambda: fused(key_shared_prefix=k, value_shared_prefix=v))
""",
    )
    assert "padding on the left is not implemented" in seen["refused"]["padding"]
    assert "a shared prefix is not implemented" in seen["refused"]["prefix"]
    assert "the lengths of 3 queries" in seen["refused"]["lengths"]
    for words in seen["refused"].values():
        assert "error code is 161002" in words
