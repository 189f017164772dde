"""What torch_npu itself limits, or PyTorch leaves open, so that no device agrees with the CPU."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """Problems of some cases, and the reason why they are none of ours. Both patterns are searched for."""

    cases: str
    problem: str
    reason: str

    def explains(self, case: str, problem: str) -> bool:
        """Whether this is why the case has the problem."""
        return bool(re.search(self.cases, case) and re.search(self.problem, problem))


COMPLEX = "complex64$"

LIMITS: tuple[Limit, ...] = (
    Limit(
        COMPLEX,
        "does not support automatic differentiation for outputs with complex dtype",
        "torch_npu's formulas of gradients are for real numbers",
    ),
    Limit(
        r"^op/(\w*bmm|addmm|mm|v?dot|tensordot|cov|corrcoef|cholesky|lu|lu_solve|qr|nn\.functional\.linear"
        r"|linalg\.(cholesky|lu|multi_dot|qr|solve_triangular)\w*)(/\w+)?/complex64$",
        "not close",
        "PyTorch leaves the conjugate bit of factors to the backend, and torch_npu's products do not read it",
    ),
    Limit(
        COMPLEX,
        r"dtype torch\.complex64 instead of torch\.float32|(max|min)_values_cpu|clamp is not supported"
        "|maximum not implemented|gt_cpu",
        "torch_npu gives norms the input's dtype",
    ),
    Limit(
        "expm1/complex64$",
        "can't be cast to the desired output type Float",
        "torch_npu has only the real one",
    ),
    Limit("fft\\.i?fftshift/complex64$", "Autograd not support dtype", "torch_npu has no gradient of it"),
    Limit(COMPLEX, "svd_npu only supported Float", "torch_npu has only the real one"),
    Limit("conj_physical/complex64$", "missing kernel for npu", "torch_npu has none"),
    Limit(
        r"^(op|foreach)/(exp|erf|erfc|logit|nn\.functional\.poisson_nll_loss)/u?(int|bool)",
        r"can't be cast to the desired output type|dtype torch\.\w+ instead of torch\.float32",
        "torch_npu gives the output the dtype of the input, which aclnn operators refuse for most integers",
    ),
    Limit(
        r"^op/(to|bfloat16|bool|byte|char|double|float|half|int|long|short|cdouble|cfloat|chalf)/",
        "Only contiguous_format or preserve_format is supported",
        "torch_npu has no channels-last",
    ),
    Limit(
        r"^op/nn\.functional\.max_unpool2d/",
        "only supported contiguous memory format",
        "torch_npu has no channels-last",
    ),
    Limit(
        r"^op/(double|float_power|to)/",
        r"dtype torch\.float32 instead of torch\.float64|result requires dtype Double",
        "torch_npu computes in float32",
    ),
    Limit(
        r"^op/(native_layer_norm|native_batch_norm|_native_batch_norm_legit)/",
        r"dtype torch\.float32|shape \(\d+,\) instead of \(0,|expected scalar type \w+ but found Float",
        "torch_npu gives the statistics in float32, in evaluation too, in one dimension if there are none",
    ),
    Limit(
        r"max_pool[123]d/|MaxPool[123]d/",
        r"instead of \(|dtype torch\.int32 instead of torch\.int64",
        "torch_npu gives a mask of its own, or indices of int32",
    ),
    Limit(r"^op/native_dropout_backward/", ".", "torch_npu's mask is of bits, the sample's of bools"),
    Limit(r"^op/mode/", "mode only supports CPU", "PyTorch has it for no other device"),
    Limit(r"^op/tensor_split/", "to be on cpu", "PyTorch wants the indices on the CPU"),
    Limit(
        r"^op/(matmul|__rmatmul__|linalg\.pinv/singular)/",
        "cannot reshape tensor of 0 elements",
        "torch_npu reshapes with an unspecified size, which empty tensors do not have",
    ),
    Limit(
        r"^op/stft/",
        "not differentiable with respect to argument 'window'",
        "torch_npu has no gradient of the window",
    ),
    Limit(
        r"binary_cross_entropy_with_logits/float32$",
        "only one of the results is a tensor",
        "torch_npu has no gradient of the target",
    ),
    Limit(
        r"^module/nn\.(LSTM|GRU)/eval/",
        "Expected a proper Tensor but got None",
        "torch_npu keeps nothing for gradients in evaluation",
    ),
    Limit(
        r"^op/(linalg\.det|linalg\.slogdet|logdet)/float32$",
        "not close",
        "PyTorch factors the transpose of a contiguous matrix. The CPU that torch_npu falls back to gets each"
        " matrix contiguous, while the formula of the gradient asks the one on the device",
    ),
    Limit(
        r"^op/nn\.functional\.gelu/",
        "not close",
        "torch_npu calls the operator without the approximation that is asked for",
    ),
    Limit(
        r"^op/cdist/",
        r"_cdist_backward requires X\d to be contiguous",
        "torch_npu has no gradient of others",
    ),
    Limit(
        r"^op/sparse\.(mm/reduce|sampled_addmm)/",
        "Could not run 'aten::",
        "torch_npu has no kernels for sparse rows",
    ),
    Limit(
        r"^module/nn\.KLDivLoss/",
        "nan at index",
        "the samples have negative probabilities, of which the gradient is not defined",
    ),
    Limit(
        r"^module/nn\.LinearCrossEntropyLoss/.*/b?float16$",
        "not close",
        "each of several operators rounds to half precision, and torch_npu takes others than the CPU",
    ),
    Limit(
        r"^op/(nn\.functional\.conv_transpose[23]d|addbmm)/b?float16$",
        "not close",
        "the simulated device rounds the sum to half precision once, the CPU each part of it",
    ),
    Limit(
        r"^module/nn\.LSTM/train/float32$",
        "refused DynamicRNNGrad|ACL stream synchronize failed, error code:507015",
        "the simulated CANN has no gradient of the older operator, and the stream fails with it",
    ),
    Limit(r"^optimizer/SGD/", "momentum must be positive", "torch_npu's fused SGD has none without momentum"),
)
