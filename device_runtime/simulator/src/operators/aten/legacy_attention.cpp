// Attention, and products of matrices, in the older aclop interface.
#include "legacy.h"
#include "store.h"

namespace simulator::operators {
namespace {

at::Tensor Turned(const at::Tensor& matrix, bool turn) { return turn ? matrix.transpose(-1, -2) : matrix; }

void Multiply(const LegacyCall& call, const char* turnFirst, const char* turnSecond) {
  auto product = at::matmul(Turned(Widened(call.Input(0)), call.Attribute(turnFirst, false)),
                            Turned(Widened(call.Input(1)), call.Attribute(turnSecond, false)));
  if (call.HasInput(2)) product = product + Widened(call.Input(2));
  call.Return(0, product);
}

void MultiplyMatrices(const LegacyCall& call) { Multiply(call, "transpose_x1", "transpose_x2"); }

const LegacyOperator product{"MatMul", MultiplyMatrices};
const LegacyOperator productV2{"MatMulV2", MultiplyMatrices};
const LegacyOperator batchProduct{"BatchMatMul",
                                  [](const LegacyCall& call) { Multiply(call, "adj_x1", "adj_x2"); }};

// The mask has a byte for each element, and some more.
at::Tensor Dropped(const at::Tensor& values, const at::Tensor& mask, double keep) {
  const auto kept = mask.flatten().narrow(0, 0, values.numel()).view(values.sizes()).ne(0);
  return keep == 0 ? at::zeros_like(values) : values * kept / keep;
}

int64_t SoftmaxAxis(const LegacyCall& call, std::string_view name) {
  const auto axes = call.Attribute(name, std::vector<int64_t>{-1});
  TORCH_CHECK_NOT_IMPLEMENTED(axes.size() == 1, "a softmax over ", axes.size(),
                              " dimensions is not implemented");
  return axes[0];
}

const LegacyOperator addedSoftmax{
    "AxpyWithSoftmaxAndDropOutDoMask", [](const LegacyCall& call) {
      const auto sum = Widened(call.Input(0)) + Widened(call.Input(1)) * call.Attribute("alpha", 1.0F);
      const auto softmax = at::softmax(sum, SoftmaxAxis(call, "axis"));
      call.Return(0, softmax);
      call.Return(1, Dropped(softmax, call.Input(2), call.Attribute("input_keep_prob", 1.0F)));
    }};

const LegacyOperator addedSoftmaxGradient{
    "DropoutWithMulsAndSoftmaxGrad", [](const LegacyCall& call) {
      const auto softmax = Widened(call.Input(2));
      const auto grad =
          Dropped(Widened(call.Input(0)), call.Input(1), call.Attribute("input_keep_prob", 1.0F));
      const auto axis = SoftmaxAxis(call, "axes");
      const auto inner = softmax * (grad - (grad * softmax).sum(axis, true));
      call.Return(0, inner * call.Attribute("alpha", 1.0F));
    }};

// Projections of the input to heads: batch, heads, rows, features.
struct Heads {
  int64_t count, features;

  at::Tensor Split(const at::Tensor& rows, int64_t length) const {
    return rows.view({-1, length, count, features}).transpose(1, 2);
  }
};

// The biases follow the other inputs, all of them or none; then a mask may follow.
constexpr size_t kFirstBias = 8, kBiases = 4;

at::Tensor Projected(const LegacyCall& call, const at::Tensor& rows, size_t weight, size_t bias) {
  const auto result = at::matmul(rows, Widened(call.Input(weight)).t());
  return call.Inputs() > kFirstBias ? result + Widened(call.Input(kFirstBias + bias)) : result;
}

const LegacyOperator attention{
    "MultiHeadAttention", [](const LegacyCall& call) {
      TORCH_CHECK_NOT_IMPLEMENTED(call.Attribute("keep_prob", 1.0F) == 1, "dropout is not implemented");
      TORCH_CHECK_NOT_IMPLEMENTED(call.Inputs() == kFirstBias || call.Inputs() >= kFirstBias + kBiases,
                                  "some biases without others are not implemented");
      const Heads heads{call.Attribute<int64_t>("attn_head_num", 1),
                        call.Attribute<int64_t>("attn_dim_per_head", 1)};
      const auto sources = call.Attribute<int64_t>("src_len", 1),
                 targets = call.Attribute<int64_t>("tgt_len", 1);
      // What the units that multiply take, and give, has the dtype of the input.
      const auto rounded = [dtype = call.Input(0).scalar_type()](const at::Tensor& values) {
        return values.to(dtype).to(at::kFloat);
      };
      const auto projected = [&](size_t index, int64_t length) {
        return rounded(heads.Split(Projected(call, Widened(call.Input(index)), index + 3, index), length));
      };
      const auto query = rounded(projected(0, targets) / std::sqrt(static_cast<double>(heads.features)));
      const auto key = projected(1, sources), value = projected(2, sources);
      const auto products = rounded(at::matmul(query, key.transpose(-1, -2)));
      const auto scores = at::softmax(rounded(products + Widened(call.Input(6))), -1);
      const auto attended = rounded(at::matmul(rounded(scores), value));
      const auto context = attended.transpose(1, 2).reshape(call.Output(7).sizes());
      call.Output(1).fill_(0xFF);
      call.Return(0, Projected(call, context, 7, 3));
      call.Return(2, query);
      call.Return(3, key);
      call.Return(4, value);
      call.Return(5, scores);
      call.Return(6, scores);
      call.Return(7, context);
    }};

}  // namespace
}  // namespace simulator::operators
