// Fourier transforms.
#include "binding.h"
#include "checks.h"
#include "store.h"

namespace simulator::operators {
namespace {

// Frequencies by frames of a batch or of one signal; real and imaginary part are a last dimension if the
// result is not complex.
Plan Stft(Tensor self, OptionalTensor window, Out out, int64_t nFft, int64_t hopLength, int64_t winLength,
          bool normalized, bool onesided, bool returnComplex) {
  TORCH_CHECK_VALUE(self.dim() == 1 || self.dim() == 2, "a signal of shape ", self.sizes());
  TORCH_CHECK_VALUE(hopLength > 0 && winLength > 0 && winLength <= nFft && nFft <= self.size(-1),
                    "a window of ", winLength, " every ", hopLength, " in ", nFft, " of ", self.size(-1),
                    " samples");
  return [=]() mutable {
    const auto transformed = at::stft(self, nFft, hopLength, winLength, window, normalized, onesided, true);
    Store(out, returnComplex ? transformed : at::view_as_real(transformed));
  };
}

// Real and imaginary part are a last dimension. The norms count the directions that are scaled: 1 the
// inverse, 2 this one, 3 both by the root.
Plan Rfft1d(Tensor self, int64_t n, int64_t dim, int64_t norm, Out out) {
  constexpr std::array<std::string_view, 4> kNorms{"", "backward", "forward", "ortho"};
  TORCH_CHECK_VALUE(norm >= 1 && norm <= 3, "the norm ", norm, " is not 1, 2 or 3");
  auto shape = self.sizes().vec();
  shape.at(at::maybe_wrap_dim(dim, self.dim())) = n / 2 + 1;
  shape.push_back(2);
  CheckShape(out, shape);
  return [=]() mutable { Store(out, at::view_as_real(at::fft_rfft(self, n, dim, kNorms[norm]))); };
}

}  // namespace
}  // namespace simulator::operators

ACL_OPERATOR(aclStft, Planning(Stft));
ACL_OPERATOR(aclRfft1D, Planning(Rfft1d));
