"""Recurrent layers over sequences of different lengths, compared with the CPU."""

from __future__ import annotations

import pytest
from e2e.main_job import Simulated

# torch_npu packs into whole steps, which is what its own operators take.
PACKED = """
import torch, torch_npu
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

lengths = [6, 5, 3]
layer = torch.nn.{kind}(8, 16, num_layers=2, bidirectional=True)
inputs, weights = torch.randn(6, 3, 8), torch.randn(6, 3, 32)
states = [torch.randn(4, 3, 16) for _ in range({states})]

def leaves(tensors, device):
    return [tensor.detach().to(device).requires_grad_() for tensor in tensors]

def results(output, after, leaves):
    device = output.device
    ((output * weights.to(device)).sum() + sum(state.square().sum() for state in after)).backward()
    return [tensor.cpu() for tensor in (output, *after, *(leaf.grad.view(-1) for leaf in leaves))]

def as_argument(states):
    return states[0] if len(states) == 1 else states

data, *begin = leaves([inputs, *states], "cpu")
output, after = layer(pack_padded_sequence(data, lengths), as_argument(begin))
output, _ = pad_packed_sequence(output)
after = after if isinstance(after, tuple) else [after]
expected = results(output, after, [data, *begin, *layer.parameters()])

packed = pack_padded_sequence(inputs.npu(), lengths)
data, *begin = leaves([packed.data, *states], "npu")
parameters = leaves(layer.parameters(), "npu")
output, *after = torch.ops.npu._{operator}_npu(
    data, as_argument(begin), parameters, True, 2, 0.0, True, True,
    batch_first=False, batch_sizes=packed.batch_sizes.npu(),
)
found = results(output, after[:{states}], [data, *begin, *parameters])
torch.testing.assert_close(found, expected)
"""


@pytest.mark.parametrize(("kind", "states"), [("LSTM", 2), ("GRU", 1)])
def test_packed_sequences_end_where_they_should(simulated: Simulated, kind: str, states: int) -> None:
    done = simulated.python(PACKED.format(kind=kind, states=states, operator=kind.lower()))
    assert done.returncode == 0, done.stderr
