// Joining, splitting, repeating and rearranging.
#include "binding.h"
#include "checks.h"
#include "store.h"

ACLNN(Cat, Checked(
               [](Tensors tensors, int64_t dim, Out out) {
                 for (const auto& tensor : tensors) CheckFits(tensor, dim, out);
               },
               [](Tensors tensors, int64_t dim, Out out) { Store(out, at::cat(tensors, dim)); }));
ACLNN(Stack, [](Tensors tensors, int64_t dim, Out out) { Store(out, at::stack(tensors, dim)); });
ACLNN(SplitWithSize, [](Tensor self, Sizes sizes, int64_t dim, Tensors out) {
  const auto parts = at::split_with_sizes(self, sizes, dim);
  TORCH_CHECK_VALUE(parts.size() == out.size(), parts.size(), " parts do not match ", out.size(), " outputs");
  for (size_t i = 0; i < parts.size(); ++i) {
    auto target = out[i];
    Store(target, parts[i]);
  }
});
ACLNN(Repeat, [](Tensor self, Sizes repeats, Out out) { Store(out, self.repeat(repeats)); });
ACLNN(RepeatInterleave, [](Tensor self, Tensor repeats, int64_t outputSize, Out out) {
  Store(out, at::repeat_interleave(self, repeats, std::nullopt, outputSize));
});
ACLNN(RepeatInterleaveInt, [](Tensor self, int64_t repeats, int64_t outputSize, Out out) {
  Store(out, at::repeat_interleave(self, repeats, std::nullopt, outputSize));
});
ACLNN(RepeatInterleaveIntWithDim, [](Tensor self, int64_t repeats, int64_t dim, int64_t outputSize, Out out) {
  Store(out, at::repeat_interleave(self, repeats, dim, outputSize));
});
ACLNN(RepeatInterleaveWithDim, [](Tensor self, Tensor repeats, int64_t dim, int64_t outputSize, Out out) {
  Store(out, at::repeat_interleave(self, repeats, dim, outputSize));
});
ACLNN(RepeatInterleaveTensor, [](Tensor repeats, int64_t outputSize, Out out) {
  Store(out, at::repeat_interleave(repeats, std::optional(outputSize)));
});
ACLNN(Roll, Broadcasting([](Tensor self, Sizes shifts, Sizes dims, Out out) {
        Store(out, at::roll(self, shifts, dims));
      }));
ACLNN(Flip, Broadcasting([](Tensor self, Sizes dims, Out out) { Store(out, at::flip(self, dims)); }));
ACLNN(Tril, Broadcasting([](Tensor self, int64_t diagonal, Out out) { at::tril_out(out, self, diagonal); }));
ACLNN(Triu, Broadcasting([](Tensor self, int64_t diagonal, Out out) { at::triu_out(out, self, diagonal); }));
ACLNN(InplaceTril, Broadcasting([](Out self, int64_t diagonal) { at::tril_out(self, self, diagonal); }));
ACLNN(InplaceTriu, Broadcasting([](Out self, int64_t diagonal) { at::triu_out(self, self, diagonal); }));
ACLNN(InplaceFillDiagonal, [](Out self, Scalar value, bool wrap) { self.fill_diagonal_(value, wrap); });
ACLNN(ChannelShuffle,
      [](Tensor self, int64_t groups, Out out) { Store(out, at::channel_shuffle(self, groups)); });
ACLNN(UnfoldGrad,
      [](Tensor gradOutput, Sizes inputSizes, int64_t dim, int64_t size, int64_t step, Out gradInput) {
        Store(gradInput, at::unfold_backward(gradOutput, inputSizes, dim, size, step));
      });

ACLNN(ConfusionTranspose, [](Tensor x, Sizes permutation, Sizes shape, bool transposeFirst, Out out) {
  Store(out, transposeFirst ? x.permute(permutation).reshape(shape) : x.reshape(shape).permute(permutation));
});
// Bit i of a mask leaves out the begin or the end of dimension i.
ACLNN(StridedSlice,
      Checked(
          [](Tensor self, Sizes begin, Sizes, Sizes strides, int64_t, int64_t, int64_t ellipsisMask,
             int64_t newAxisMask, int64_t shrinkAxisMask, Out) {
            TORCH_CHECK_NOT_IMPLEMENTED(ellipsisMask == 0 && newAxisMask == 0 && shrinkAxisMask == 0,
                                        "only the masks of begin and end are implemented");
            TORCH_CHECK_VALUE(begin.size() <= static_cast<size_t>(self.dim()), "a slice of ", begin.size(),
                              " dimensions of a tensor of shape ", self.sizes());
            for (const auto stride : strides) TORCH_CHECK_NOT_IMPLEMENTED(stride > 0, "a stride of ", stride);
          },
          [](Tensor self, Sizes begin, Sizes end, Sizes strides, int64_t beginMask, int64_t endMask, int64_t,
             int64_t, int64_t, Out out) {
            auto slice = self;
            for (size_t i = 0; i < begin.size(); ++i) {
              const auto first = (beginMask >> i & 1) != 0 ? 0 : begin[i];
              const auto last = (endMask >> i & 1) != 0 ? slice.size(static_cast<int64_t>(i)) : end[i];
              slice = slice.slice(static_cast<int64_t>(i), first, last, strides[i]);
            }
            Store(out, slice);
          }));

ACLNN(Arange, [](Scalar start, Scalar end, Scalar step, Out out) {
  Store(out, at::arange(start, end, step, out.scalar_type()));
});
ACLNN(Range, [](Scalar start, Scalar end, Scalar step, Out out) {
  Store(out, at::range(start, end, step, out.options()));
});
ACLNN(Linspace,
      [](Scalar start, Scalar end, int64_t steps, Out out) { at::linspace_out(out, start, end, steps); });
ACLNN(LogSpace, [](Scalar start, Scalar end, int64_t steps, double base, Out out) {
  at::logspace_out(out, start, end, steps, base);
});
ACLNN(Eye, [](int64_t rows, int64_t columns, Out out) { at::eye_out(out, rows, columns); });
ACLNN(ChunkCat, [](Tensors tensors, int64_t dim, int64_t chunks, Out out) {
  Store(out, at::_chunk_cat(tensors, dim, chunks));
});
ACLNN(RepeatInterleaveGrad, [](Tensor gradOutput, Tensor repeats, int64_t axis, Out out) {
  const auto counts = repeats.to(at::kLong).expand({out.size(axis)});
  const auto sources = at::repeat_interleave(at::arange(out.size(axis), counts.options()), counts);
  Store(out, at::zeros_like(out).index_add(axis, sources, gradOutput));
});
