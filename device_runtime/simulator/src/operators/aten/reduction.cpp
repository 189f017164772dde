// Operators that fold elements along dimensions.
#include "binding.h"
#include "store.h"

namespace simulator::operators {
namespace {

// No dimension means all of them.
at::OptionalIntArrayRef OrAll(Sizes dims) {
  if (dims.empty()) return std::nullopt;
  return at::IntArrayRef(dims);
}

// A bare integer would choose the overload whose argument is a bool.
std::optional<at::Scalar> Correction(int64_t correction) { return at::Scalar(correction); }

}  // namespace
}  // namespace simulator::operators

ACLNN(ReduceSum, Reduction([](Tensor self, Sizes dims, bool keepDim, Type dtype, Out out) {
        at::sum_out(out, self, OrAll(dims), keepDim, dtype);
      }));
ACLNN(ReduceNansum, Reduction([](Tensor self, Sizes dims, bool keepDim, Type dtype, Out out) {
        at::nansum_out(out, self, OrAll(dims), keepDim, dtype);
      }));
ACLNN(Mean, Reduction([](Tensor self, Sizes dims, bool keepDim, Type dtype, Out out) {
        at::mean_out(out, self, OrAll(dims), keepDim, dtype);
      }));
ACLNN(Prod, [](Tensor self, Type dtype, Out out) { Store(out, at::prod(self, dtype)); });
ACLNN(ProdDim, Reduction([](Tensor self, int64_t dim, bool keepDim, Type dtype, Out out) {
        at::prod_out(out, self, dim, keepDim, dtype);
      }));
ACLNN(All, Reduction([](Tensor self, Sizes dims, bool keepDim, Out out) {
        at::all_out(out, self, OrAll(dims), keepDim);
      }));
ACLNN(Any, Reduction([](Tensor self, Sizes dims, bool keepDim, Out out) {
        at::any_out(out, self, OrAll(dims), keepDim);
      }));

ACLNN(Max, [](Tensor self, Out out) { Store(out, at::max(self)); });
ACLNN(Min, [](Tensor self, Out out) { Store(out, at::min(self)); });
ACLNN(Amax, Reduction([](Tensor self, Sizes dims, bool keepDim, Out out) {
        at::amax_out(out, self, dims, keepDim);
      }));
ACLNN(Amin, Reduction([](Tensor self, Sizes dims, bool keepDim, Out out) {
        at::amin_out(out, self, dims, keepDim);
      }));
ACLNN(MaxDim, Reduction([](Tensor self, int64_t dim, bool keepDim, Out out, Out indices) {
        const auto [values, positions] = at::max(self, dim, keepDim);
        Store(out, values);
        Store(indices, positions);
      }));
ACLNN(MinDim, Reduction([](Tensor self, int64_t dim, bool keepDim, Out out, Out indices) {
        const auto [values, positions] = at::min(self, dim, keepDim);
        Store(out, values);
        Store(indices, positions);
      }));
ACLNN(Aminmax, Reduction([](Tensor self, Sizes dims, bool keepDim, Out low, Out high) {
        at::amin_out(low, self, dims, keepDim);
        at::amax_out(high, self, dims, keepDim);
      }));
ACLNN(AminmaxAll, [](Tensor self, Out low, Out high) {
  Store(low, at::min(self));
  Store(high, at::max(self));
});
ACLNN(AminmaxDim, [](Tensor self, int64_t dim, bool keepDim, Out low, Out high) {
  at::aminmax_out(low, high, self, dim, keepDim);
});
ACLNN(ArgMax, Reduction([](Tensor self, int64_t dim, bool keepDim, Out out) {
        Store(out, at::argmax(self, dim, keepDim));
      }));
ACLNN(ArgMin, Reduction([](Tensor self, int64_t dim, bool keepDim, Out out) {
        Store(out, at::argmin(self, dim, keepDim));
      }));

ACLNN(Std, Reduction([](Tensor self, Sizes dims, int64_t correction, bool keepDim, Out out) {
        Store(out, at::std(Widened(self), OrAll(dims), Correction(correction), keepDim));
      }));
ACLNN(VarCorrection, Reduction([](Tensor self, Sizes dims, int64_t correction, bool keepDim, Out out) {
        Store(out, at::var(Widened(self), OrAll(dims), Correction(correction), keepDim));
      }));
ACLNN(VarMean,
      Reduction([](Tensor self, Sizes dims, int64_t correction, bool keepDim, Out varOut, Out meanOut) {
        const auto [variance, mean] =
            at::var_mean(Widened(self), OrAll(dims), Correction(correction), keepDim);
        Store(varOut, variance);
        Store(meanOut, mean);
      }));
ACLNN(StdMeanCorrection,
      Reduction([](Tensor self, Sizes dims, int64_t correction, bool keepDim, Out stdOut, Out meanOut) {
        const auto [deviation, mean] =
            at::std_mean(Widened(self), OrAll(dims), Correction(correction), keepDim);
        Store(stdOut, deviation);
        Store(meanOut, mean);
      }));
ACLNN(Median, [](Tensor self, Out values) { Store(values, at::median(self)); });
ACLNN(NanMedian, [](Tensor self, Out values) { Store(values, at::nanmedian(self)); });
ACLNN(MedianDim, Reduction([](Tensor self, int64_t dim, bool keepDim, Out values, Out indices) {
        const auto [middle, positions] = at::median(self, dim, keepDim);
        Store(values, middle);
        Store(indices, positions);
      }));
ACLNN(NanMedianDim, Reduction([](Tensor self, int64_t dim, bool keepDim, Out values, Out indices) {
        const auto [middle, positions] = at::nanmedian(self, dim, keepDim);
        Store(values, middle);
        Store(indices, positions);
      }));

ACLNN(Norm, [](Tensor self, Scalar p, Sizes dims, bool keepDim, Out out) {
  Store(out, at::linalg_vector_norm(Widened(self), p, OrAll(dims), keepDim));
});
ACLNN(LinalgVectorNorm, [](Tensor self, Scalar order, Sizes dims, bool keepDim, Type dtype, Out out) {
  Store(out, at::linalg_vector_norm(Widened(self), order, OrAll(dims), keepDim).to(dtype));
});
ACLNN(LogSumExp, Reduction([](Tensor self, Sizes dims, bool keepDim, Out out) {
        Store(out, at::logsumexp(self, dims, keepDim));
      }));

ACLNN(Cumsum, Broadcasting([](Tensor self, int64_t dim, Type dtype, Out out) {
        at::cumsum_out(out, self, dim, dtype);
      }));
ACLNN(Cumprod, Broadcasting([](Tensor self, Scalar dim, Type dtype, Out out) {
        at::cumprod_out(out, self, dim.toLong(), dtype);
      }));
ACLNN(Cummax, Broadcasting([](Tensor self, int64_t dim, Out values, Out indices) {
        const auto [highest, positions] = at::cummax(self, dim);
        Store(values, highest);
        Store(indices, positions);
      }));
ACLNN(Cummin, Broadcasting([](Tensor self, int64_t dim, Out values, Out indices) {
        const auto [lowest, positions] = at::cummin(self, dim);
        Store(values, lowest);
        Store(indices, positions);
      }));
ACLNN(Bincount, [](Tensor self, OptionalTensor weights, int64_t minLength, Out out) {
  Store(out, at::bincount(self, weights, minLength));
});
ACLNN(Histc, [](Tensor self, int64_t bins, Scalar low, Scalar high, Out out) {
  Store(out, at::histc(self, bins, low, high));
});
ACLNN(Trace, [](Tensor self, Out out) { Store(out, at::trace(self)); });
ACLNN(Renorm, Broadcasting([](Tensor self, Scalar p, int64_t dim, Scalar maxNorm, Out out) {
        Store(out, at::renorm(self, p, dim, maxNorm));
      }));
ACLNN(InplaceRenorm, Broadcasting([](Out self, Scalar p, int64_t dim, Scalar maxNorm) {
        Store(self, at::renorm(self, p, dim, maxNorm));
      }));
