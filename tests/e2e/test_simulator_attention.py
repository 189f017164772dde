"""Attention of the simulated CANN, for training, against its definition computed in float64."""

from __future__ import annotations

from e2e.fused import Simulated, check, run

# The definition, on batch, heads, rows, features.
REFERENCE = """
def attend(q, k, v, scale, masked=None, bias=None, bias_first=True, kept=None, sink=None):
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2)
    if bias is not None and bias_first:
        scores = scores + bias
    scores = scores * scale
    if bias is not None and not bias_first:
        scores = scores + bias
    if masked is not None:
        scores = scores.masked_fill(masked, -torch.inf)
    if sink is not None:
        column = sink.view(1, -1, 1, 1).expand(scores.shape[0], -1, scores.shape[2], 1)
        weights = torch.cat((scores, column), -1).softmax(-1)[..., :-1]
    else:
        weights = scores.softmax(-1)
    weights = weights.masked_fill(weights.isnan(), 0)
    return (weights if kept is None else weights * kept) @ v


def laid(tensor, layout):
    '''From batch, heads, rows, features to a layout.'''
    if layout == "BNSD":
        return tensor
    if layout == "BSND":
        return tensor.transpose(1, 2)
    return tensor.transpose(1, 2).flatten(2) if layout == "BSH" else tensor.permute(2, 0, 1, 3).flatten(2)


def causal(rows, columns, shift=0):
    return torch.ones(rows, columns, dtype=torch.bool).triu(1 + shift)


PATTERN = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
"""


def test_scaled_dot_product_attention_with_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        """
def grouped(t):
    return t.repeat_interleave(3, 1)


for dtype in FLOATS:
    q, k, v = (
        given(2, 6, 5, 16, dtype=dtype),
        given(2, 6, 7, 16, dtype=dtype),
        given(2, 6, 7, 16, dtype=dtype),
    )
    mask = torch.rand(2, 1, 5, 7) > 0.3
    mask[:, :, 0] = False
    for name, options in dict(
        plain={}, causal=dict(is_causal=True), scaled=dict(scale=0.2), mask=dict(attn_mask=mask)
    ).items():
        on_device = {
            key: value.npu() if torch.is_tensor(value) else value for key, value in options.items()
        }
        same_gradients(
            f"{name} {dtype}",
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **on_device),
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options),
            q,
            k,
            v,
            tolerance=4 * TOLERANCE[dtype],
        )
    same_gradients(
        f"grouped {dtype}",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        lambda q, k, v: F.scaled_dot_product_attention(q, grouped(k), grouped(v)),
        q,
        given(2, 2, 7, 16, dtype=dtype),
        given(2, 2, 7, 16, dtype=dtype),
        tolerance=4 * TOLERANCE[dtype],
    )
""",
        compared=3 * 5 * 4,
    )


def test_every_layout_gives_results_statistics_and_gradients(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for dtype, layout, heads in itertools.product(FLOATS, ("BNSD", "BSND", "BSH", "SBH"), (4, 2)):
    q, k, v = (given(2, n, s, d, dtype=dtype) for n, s, d in ((4, 5, 8), (heads, 6, 8), (heads, 6, 8)))
    same_gradients(
        f"{dtype} {layout} {heads}",
        lambda q, k, v: torch_npu.npu_fusion_attention(
            laid(q, layout), laid(k, layout), laid(v, layout), 4, layout, scale=0.3
        )[0],
        lambda q, k, v: laid(attend(q, k, v, 0.3), layout),
        q,
        k,
        v,
        tolerance=4 * TOLERANCE[dtype],
    )
    _, largest, total, *_ = torch_npu.npu_fusion_attention(
        *(laid(t, layout).npu() for t in (q, k, v)), 4, layout, scale=0.3
    )
    scores = q.double() @ k.double().repeat_interleave(4 // heads, 1).transpose(-1, -2) * 0.3
    top = scores.amax(-1, keepdim=True)
    same("largest", largest, top.expand(2, 4, 5, 8), 1e-4)
    same("total", total, (scores - top).exp().sum(-1, keepdim=True).expand(2, 4, 5, 8), 1e-4)
""",
        compared=3 * 4 * 2 * 6,
    )


def test_masks_of_every_sparse_mode(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
def masks(rows, columns):
    free = torch.rand(2, 4, rows, columns) > 0.6
    free[..., 0] = False
    shift = columns - rows
    yield "whole", 1, free, free, {}
    yield "given", 0, free[:, :1], free[:, :1], {}
    yield "one for all", 0, free[0, 0], free[0, 0], {}
    yield "causal", 2, PATTERN, causal(rows, columns), {}
    yield "causal to the end", 3, PATTERN, causal(rows, columns, shift), {}
    band = causal(rows, columns, shift + 1) | ~causal(rows, columns, shift - 4)
    yield "band", 4, PATTERN, band, dict(pre_tockens=3, next_tockens=1)
    prefix = torch.stack([causal(rows, columns, shift)] * 2)
    for batch, length in enumerate((2, 3)):
        prefix[batch, :, :length] = False
    yield "prefix", 5, prefix.unsqueeze(1), prefix.unsqueeze(1), dict(prefix=[2, 3])
    square = torch.zeros(1024, 2048, dtype=torch.bool)
    square[:, 1024:] = True
    yield "short prefix", 6, torch.cat((PATTERN, square)), prefix.unsqueeze(1), dict(prefix=[2, 3])


for rows, columns in ((5, 5), (4, 7)):
    for name, mode, mask, masked, options in masks(rows, columns):
        q, k, v = given(2, 4, rows, 8), given(2, 4, columns, 8), given(2, 4, columns, 8)
        same_gradients(
            f"{name} {rows}x{columns}",
            lambda q, k, v: torch_npu.npu_fusion_attention(
                q, k, v, 4, "BNSD", scale=0.3, atten_mask=mask.npu(), sparse_mode=mode, **options
            )[0],
            lambda q, k, v: attend(q, k, v, 0.3, masked),
            q,
            k,
            v,
            tolerance=1e-4,
        )
q, k, v = given(1, 2, 4, 8), given(1, 2, 4, 8), given(1, 2, 4, 8)
blind = torch.zeros(4, 4, dtype=torch.bool)
blind[1] = True
same_gradients(
    "a row without keys",
    lambda q, k, v: torch_npu.npu_fusion_attention(q, k, v, 2, "BNSD", scale=0.3, atten_mask=blind.npu())[
        0
    ],
    lambda q, k, v: attend(q, k, v, 0.3, blind),
    q,
    k,
    v,
    tolerance=1e-4,
)
""",
        compared=(2 * 8 + 1) * 4,
    )


def test_biases_ropes_and_sinks(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
for shape in ((2, 4, 5, 6), (1, 4, 5, 6), (2, 4, 1, 6)):
    for kind in (0, 1):
        q, k, v, bias = given(2, 4, 5, 8), given(2, 4, 6, 8), given(2, 4, 6, 8), given(*shape)
        same_gradients(
            f"bias {shape} {kind}",
            lambda q, k, v, b: torch_npu.npu_fusion_attention_v2(
                q, k, v, 4, "BNSD", pse=b, scale=0.3, pse_type=kind
            )[0],
            lambda q, k, v, b: attend(q, k, v, 0.3, bias=b, bias_first=kind == 1),
            q,
            k,
            v,
            bias,
            tolerance=1e-4,
        )
q, k, v, sink = given(2, 4, 5, 8), given(2, 4, 6, 8), given(2, 4, 6, 8), given(4)
same_gradients(
    "sink",
    lambda q, k, v, s: torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", scale=0.3, sink=s)[0],
    lambda q, k, v, s: attend(q, k, v, 0.3, sink=s),
    q,
    k,
    v,
    sink,
    tolerance=1e-4,
)
""",
        compared=3 * 2 * 5 + 5,
    )


def test_sequences_of_different_lengths(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
def by_sequence(q, k, v, queries, keys, masked_of):
    rows, columns, parts = 0, 0, []
    for place, (a, b) in enumerate(zip(queries, keys)):
        pieces = q[rows:a], k[columns:b], v[columns:b]
        part = attend(
            *(t.transpose(0, 1).unsqueeze(0) for t in pieces),
            0.3,
            masked_of(place, a - rows, b - columns),
        )
        parts.append(part.squeeze(0).transpose(0, 1))
        rows, columns = a, b
    return torch.cat(parts)


queries, keys = [3, 3, 8, 10], [4, 4, 9, 13]
PLAIN = lambda place, rows, columns: None
TO_END = lambda place, rows, columns: causal(rows, columns, columns - rows)
CUT_LAST = lambda place, rows, columns: (
    causal(rows, columns, columns - rows) if place < 3 else causal(rows, columns, columns - rows - 1)
)
CUT_FIRST = lambda place, rows, columns: causal(rows, columns, 0 if place else columns - rows + 1)
for dtype, heads, layout in itertools.product(FLOATS, (4, 2), ("", "TND")):
    for name, masked_of, options in (
        ("plain", PLAIN, {}),
        ("causal", TO_END, dict(sparse_mode=3)),
        ("last cut", CUT_LAST, dict(sparse_mode=7, pre_tockens=9, next_tockens=-1)),
        ("first cut", CUT_FIRST, dict(sparse_mode=8, pre_tockens=9, next_tockens=1)),
    ):
        mask = dict(atten_mask=PATTERN.npu()) if options else {}
        q, k, v = (
            given(10, 4, 8, dtype=dtype),
            given(13, heads, 8, dtype=dtype),
            given(13, heads, 8, dtype=dtype),
        )
        same_gradients(
            f"{name} {dtype} {heads} {layout!r}",
            lambda q, k, v: torch_npu.npu_fusion_attention(
                q,
                k,
                v,
                4,
                "TND",
                scale=0.3,
                actual_seq_qlen=queries,
                actual_seq_kvlen=keys,
                softmax_layout=layout,
                **mask,
                **options,
            )[0],
            lambda q, k, v: by_sequence(q, k, v, queries, keys, masked_of),
            q,
            k,
            v,
            tolerance=4 * TOLERANCE[dtype],
        )
""",
        compared=3 * 2 * 2 * 4 * 4,
    )


def test_dropout_follows_its_mask(simulated: Simulated) -> None:
    check(
        simulated,
        REFERENCE
        + """
q, k, v = given(2, 4, 32, 8), given(2, 4, 32, 8), given(2, 4, 32, 8)
bits = torch_npu._npu_dropout_gen_mask(
    q.npu(), [2, 4, 32, 32], p=0.25, seed=3, offset=0, parallel=False, sync=False
)
numbers = bits.cpu().to(torch.int64).unsqueeze(-1) >> torch.arange(8) & 1
kept = numbers.flatten()[: 2 * 4 * 32 * 32].view(2, 4, 32, 32) / 0.75
same("share kept", kept.mean().view(1), torch.ones(1), 0.05)
same_gradients(
    "dropout",
    lambda q, k, v: torch_npu.npu_fusion_attention(
        q, k, v, 4, "BNSD", scale=0.3, keep_prob=0.75, dropout_mask=bits, seed=3
    )[0],
    lambda q, k, v: attend(q, k, v, 0.3, kept=kept),
    q,
    k,
    v,
    tolerance=1e-4,
)
torch.manual_seed(5)
first = F.scaled_dot_product_attention(q.npu(), k.npu(), v.npu(), dropout_p=0.5)
torch.manual_seed(5)
same(
    "the same seed", F.scaled_dot_product_attention(q.npu(), k.npu(), v.npu(), dropout_p=0.5), first.cpu()
)
""",
        compared=1 + 4 + 1,
    )


def test_the_gradient_takes_the_statistics_of_all_keys(simulated: Simulated) -> None:
    """Keys spread over devices: each part's gradient is computed with the statistics of the whole."""
    check(
        simulated,
        REFERENCE
        + """
q, k, v, grad = given(1, 2, 4, 8), given(1, 2, 6, 8), given(1, 2, 6, 8), given(1, 2, 4, 8)
leaves = [leaf(t, "cpu") for t in (q, k, v)]
attend(*leaves, 0.3).backward(grad.double())
out, largest, total, *_ = torch_npu.npu_fusion_attention(q.npu(), k.npu(), v.npu(), 2, "BNSD", scale=0.3)
query_grad = 0
for part in (slice(0, 2), slice(2, 6)):
    own = torch_npu.npu_fusion_attention_grad(
        q.npu(),
        k[:, :, part].contiguous().npu(),
        v[:, :, part].contiguous().npu(),
        grad.npu(),
        2,
        "BNSD",
        softmax_max=largest,
        softmax_sum=total,
        attention_in=out,
        scale_value=0.3,
    )
    query_grad = query_grad + own[0].cpu()
    same("keys", own[1], leaves[1].grad[:, :, part], 1e-4)
    same("values", own[2], leaves[2].grad[:, :, part], 1e-4)
same("query", query_grad, leaves[0].grad, 1e-4)
""",
        compared=5,
    )


def test_what_attention_cannot_do_is_refused_by_name(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
q, k, v = (given(1, 2, 4, 8).npu() for _ in range(3))
call = torch_npu.npu_fusion_attention
refuses("padding", lambda: call(q, k, v, 2, "BNSD", padding_mask=torch.ones(4, 4).npu()))
refuses(
    "alibi",
    lambda: torch_npu.npu_fusion_attention_v2(q, k, v, 2, "BNSD", pse=torch.ones(2).npu(), pse_type=2),
)
refuses("heads", lambda: call(q, k, v, 3, "BNSD"))
refuses("mode", lambda: call(q, k, v, 2, "BNSD", sparse_mode=3))
""",
    )
    assert "aclnnFlashAttentionScore: a padding mask is not implemented" in seen["refused"]["padding"]
    assert "pseType 2 is not implemented" in seen["refused"]["alibi"]
    assert "the query has 2 heads, not 3" in seen["refused"]["heads"]
    assert "asks for an attention mask" in seen["refused"]["mode"]
