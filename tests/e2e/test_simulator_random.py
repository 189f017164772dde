"""Random numbers of the simulated CANN: what decides them, and what does not."""

from __future__ import annotations

from e2e.test_simulator_operators import Simulated, run

DRAWS = """
def draws():
    like = torch.empty(100, 33, device="npu")
    yield torch.randn(1000, device="npu")
    yield torch.rand(1000, dtype=torch.bfloat16, device="npu")
    yield torch.randint(0, 1000, (5000,), device="npu")
    yield torch.randperm(5000, device="npu")
    yield like.clone().bernoulli_(0.3)
    yield like.clone().exponential_()
    yield like.clone().normal_(2, 3).half()
    yield torch.multinomial(torch.rand(8, 50, device="npu"), 20)
    yield torch.normal(torch.zeros(50, device="npu"), torch.ones(50, device="npu"))
    yield nn.functional.dropout(torch.ones(100, 33, device="npu"), 0.4)
    yield nn.functional.rrelu(-torch.ones(100, 33, device="npu"), training=True)
def drawn(seed):
    torch.manual_seed(seed)
    return [value.cpu().float() for value in draws()]
"""


def test_the_number_of_threads_does_not_matter(simulated: Simulated) -> None:
    source = (
        DRAWS + "\nimport hashlib\n"
        "report(seen=[hashlib.sha256(value.numpy().tobytes()).hexdigest() for value in drawn(3)])"
    )
    seen = [run(simulated, source, OMP_NUM_THREADS=threads) for threads in ("1", "2", "3")]
    assert seen[0] == seen[1] == seen[2]


def test_a_draw_repeats_with_the_seed_and_with_the_state(simulated: Simulated) -> None:
    seen = run(
        simulated,
        DRAWS
        + """
first, again, other = drawn(1), drawn(1), drawn(2)
state = torch.npu.get_rng_state()
after = [value.cpu().float() for value in draws()]
torch.npu.set_rng_state(state)
repeated = [value.cpu().float() for value in draws()]
def equal(left, right): return [torch.equal(a, b) for a, b in zip(left, right, strict=True)]
report(same=equal(first, again), different=equal(first, other), next=equal(after, again),
       restored=equal(after, repeated))
""",
    )
    assert all(seen["same"])
    assert not any(seen["different"])
    assert not any(seen["next"])
    assert all(seen["restored"])


def test_a_generator_of_ones_own_does_not_touch_the_default_one(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
torch.manual_seed(1)
expected = torch.randn(10, device="npu")
torch.manual_seed(1)
own = torch.Generator(device="npu").manual_seed(5)
first = torch.randn(10, device="npu", generator=own)
kept = torch.equal(torch.randn(10, device="npu"), expected)
own.manual_seed(5)
report(kept=kept, repeats=torch.equal(torch.randn(10, device="npu", generator=own), first))
""",
    )
    assert seen == {"kept": True, "repeats": True}


def test_dropout_drops_in_the_gradient_what_it_dropped(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
def check(dtype, shape):
    torch.manual_seed(0)
    inputs = torch.ones(shape, device="npu", dtype=dtype, requires_grad=True)
    outputs = nn.functional.dropout(inputs, 0.3)
    outputs.sum().backward()
    return torch.equal(outputs.detach(), inputs.grad), (outputs == 0).float().mean().item()
report(seen=[check(dtype, shape) for dtype in (torch.float32, torch.float16, torch.bfloat16)
             for shape in ((1000,), (37, 51), (1, 1, 3001))])
""",
    )
    assert all(equal for equal, _ in seen["seen"])
    assert all(abs(dropped - 0.3) < 0.05 for _, dropped in seen["seen"])


def test_draws_follow_their_distributions(simulated: Simulated) -> None:
    seen = run(
        simulated,
        """
torch.manual_seed(0)
like = torch.empty(20000, device="npu")
def moments(value): return [value.mean().item(), value.std().item()]
report(normal=moments(like.clone().normal_(2, 3)), uniform=moments(like.clone().uniform_(-1, 3)),
       exponential=moments(like.clone().exponential_(0.5)), bernoulli=moments(like.clone().bernoulli_(0.2)),
       integers=moments(torch.randint(0, 10, (20000,), device="npu").float()))
""",
    )
    expected = {
        "normal": (2, 3),
        "uniform": (1, 4 / 12**0.5),
        "exponential": (2, 2),
        "bernoulli": (0.2, 0.4),
        "integers": (4.5, 8.25**0.5),
    }
    for name, (mean, deviation) in expected.items():
        assert abs(seen[name][0] - mean) < 0.1, name
        assert abs(seen[name][1] - deviation) < 0.1, name
