"""NPUGraph of the real torch_npu on the simulated CANN: capture, and replay with other inputs."""

from __future__ import annotations

import subprocess
from typing import Protocol


class Simulated(Protocol):
    """An environment with torch and torch_npu on the simulated CANN."""

    def python(self, source: str, **variables: str) -> subprocess.CompletedProcess[str]: ...


HEADER = """
import torch, torch_npu
from torch import nn

def warmed_up(work):
    stream = torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        for _ in range(2):
            work()
    torch.npu.current_stream().wait_stream(stream)

def captured(work):
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        result = work()
    return graph, result
"""


def passes(simulated: Simulated, source: str) -> None:
    done = simulated.python(HEADER + source)
    assert done.returncode == 0, done.stderr


def test_replays_compute_with_the_inputs_of_the_moment(simulated: Simulated) -> None:
    passes(
        simulated,
        """
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
device_model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).npu()
device_model.load_state_dict(model.state_dict())
inputs = torch.zeros(8, 16).npu()
warmed_up(lambda: device_model(inputs))
graph, outputs = captured(lambda: device_model(inputs))
for _ in range(3):
    fresh = torch.randn(8, 16)
    inputs.copy_(fresh)
    graph.replay()
    torch.testing.assert_close(outputs.cpu(), model(fresh))
""",
    )


def test_a_whole_training_step_is_replayed(simulated: Simulated) -> None:
    passes(
        simulated,
        """
def make(device):
    torch.manual_seed(0)
    model = nn.Linear(16, 4).to(device)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)

inputs, targets = torch.randn(8, 16).npu(), torch.randint(0, 4, (8,)).npu()
model, optimizer = make("npu")
def step():
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss
warmed_up(step)
optimizer.zero_grad(set_to_none=True)
graph, loss = captured(step)

reference, reference_optimizer = make("cpu")
reference.load_state_dict({name: value.cpu() for name, value in model.state_dict().items()})
for _ in range(3):
    fresh = torch.randn(8, 16), torch.randint(0, 4, (8,))
    inputs.copy_(fresh[0])
    targets.copy_(fresh[1])
    graph.replay()
    reference_optimizer.zero_grad()
    expected = nn.functional.cross_entropy(reference(fresh[0]), fresh[1])
    expected.backward()
    reference_optimizer.step()
    torch.testing.assert_close(loss.cpu(), expected.detach())
""",
    )


def test_random_numbers_differ_from_replay_to_replay(simulated: Simulated) -> None:
    passes(
        simulated,
        """
ones = torch.ones(1000).npu()
work = lambda: nn.functional.dropout(ones, 0.5)
warmed_up(work)
graph, dropped = captured(work)
seen = []
for _ in range(2):
    graph.replay()
    seen.append(dropped.cpu())
assert not seen[0].equal(seen[1])
""",
    )


def test_what_a_capture_forbids_is_raised_and_leaves_the_device_usable(simulated: Simulated) -> None:
    passes(
        simulated,
        """
ones = torch.ones(4).npu()
for forbidden in (torch.npu.synchronize, lambda: (ones + 1).sum().item()):
    try:
        captured(forbidden)
    except RuntimeError as error:
        assert "error code is 107027" in str(error), error
        assert "[simulated CANN]" in str(error), error
    else:
        raise AssertionError("nothing was raised")
assert (ones + 1).sum().item() == 8
""",
    )


def test_graphed_callables_take_part_in_autograd(simulated: Simulated) -> None:
    passes(
        simulated,
        """
layer = nn.Linear(8, 8)
device_layer = nn.Linear(8, 8).npu()
device_layer.load_state_dict(layer.state_dict())
graphed = torch.npu.make_graphed_callables(device_layer, (torch.randn(4, 8).npu().requires_grad_(),))
for _ in range(2):
    inputs = torch.randn(4, 8)
    on_device = inputs.npu().requires_grad_()
    inputs.requires_grad_()
    graphed(on_device).sum().backward()
    layer(inputs).sum().backward()
    torch.testing.assert_close(on_device.grad.cpu(), inputs.grad)
""",
    )


def test_a_recorded_attention_takes_other_lengths(simulated: Simulated) -> None:
    passes(
        simulated,
        """
query, key, value = (torch.randn(1, 4, length, 16, dtype=torch.float16).npu() for length in (1, 8, 8))

def options(length):
    return dict(num_heads=4, input_layout="BNSD", scale=0.25, actual_seq_lengths_kv=[length])

attention = torch_npu.npu_fused_infer_attention_score
expected = {length: attention(query, key, value, **options(length)) for length in (3, 8)}
assert not expected[3][0].equal(expected[8][0])
workspace = torch_npu._npu_fused_infer_attention_score_get_max_workspace(query, key, value, **options(3))
out = [torch.empty_like(tensor) for tensor in expected[3]]
graph, updated, side = torch.npu.NPUGraph(), torch.npu.ExternalEvent(), torch.npu.Stream()
with torch.npu.graph(graph):
    stream = torch.npu.current_stream()
    updated.wait(stream)
    updated.reset(stream)
    torch.npu.graph_task_group_begin(stream)
    attention.out(query, key, value, workspace=workspace, **options(3), out=out)
    handle = torch.npu.graph_task_group_end(stream)
for length in (8, 3):
    with torch.npu.stream(side):
        torch.npu.graph_task_update_begin(side, handle)
        attention.out(query, key, value, workspace=workspace, **options(length), out=out)
        torch.npu.graph_task_update_end(side)
        updated.record(side)
    graph.replay()
    torch.npu.synchronize()
    torch.testing.assert_close(out[0].cpu(), expected[length][0].cpu())
""",
    )
