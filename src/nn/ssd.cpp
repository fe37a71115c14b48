#include "structmat/nn/ssd.hpp"

#include "core/threads.hpp"
#include "nn/ssd_head.hpp"
#include "nn/ssd_operands.hpp"
#include "nn/ssd_task.hpp"

namespace structmat::nn {
namespace {

constexpr auto operation = "nn::ssd::apply";

template <Storage T>
void run(const SsdTask<T>& task, const SsdOutput<T>& out) {
  using R = compute_t<T>;
  const View<T, 2> y = task.part(out.y);
  const index_t channels = y.extent(1);
  const std::vector<R> d = task.d_of_channels();
  const auto emit = [&](index_t first, const SsdRows<R>& r, const HeadRows<T>& rows,
                        Array<R, 2>& sum) {
    for (index_t t = 0; t < r.tokens; ++t) {
      R* const row = sum.data() + t * r.channels;
      const R* const x = rows.x(t);
      for (index_t p = 0; p < channels; ++p) row[p] += d[p] * x[p];
      if (task.z.data()) {
        for (index_t p = 0; p < channels; ++p) row[p] *= silu(static_cast<R>(task.z(first + t, p)));
      }
      T* const to = &y(first + t, 0);
      if (y.stride(1) == 1) {
        std::transform(row, row + channels, to, [](R v) { return static_cast<T>(v); });
      } else {
        for (index_t p = 0; p < channels; ++p) to[p * y.stride(1)] = static_cast<T>(row[p]);
      }
    }
  };
  const Array<R, 2> state = walk(task.head, task.initial_state, emit);
  if (!out.final_state.data()) return;
  const View<R, 2> last = out.final_state.select(0, task.sequence).select(0, task.h);
  for (index_t p = 0; p < last.extent(0); ++p) {
    for (index_t n = 0; n < last.extent(1); ++n) last(p, n) = state(n, p);
  }
}

}  // namespace

template <Storage T>
void apply(const exec::cpu& e, const SsdView<T>& matrix, const SsdInput<T>& input,
           const SsdOutput<T>& out) {
  SsdView<T> m = matrix;
  SsdInput<T> in = input;
  const SsdShape shape = check_operands(operation, m, in);
  check_starts(operation, m.starts, shape.length);
  detail::require_extents(operation, "y", out.y, in.x.extents());
  if (out.final_state.data()) {
    detail::require_extents(
        operation, "final_state", out.final_state,
        std::array<index_t, 4>{shape.sequences, shape.heads, shape.channels, shape.states});
  }
  require_apart(operation, m, in, View<const T, 4>(out.y), "y");
  SsdInput<T> others = in;
  if (same_view(input.initial_state, out.final_state)) others.initial_state = {};
  require_apart(operation, m, others, View<const compute_t<T>, 4>(out.final_state), "final_state");
  const index_t tasks = shape.sequences * shape.heads;
  const int team = team_for(
      e.threads, 3 * shape.batch * shape.length * shape.heads * shape.channels * shape.states);
  parallel_for(team, tasks, [&](index_t at) { run(SsdTask<T>(m, in, shape, at), out); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const SsdView<T>&, const SsdInput<T>&, \
                                          const SsdOutput<T>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
