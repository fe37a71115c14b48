#include "structmat/nn/quasiseparable_mixer.hpp"

#include "core/threads.hpp"
#include "nn/quasiseparable_mixer_operands.hpp"

namespace structmat::nn {
namespace {

constexpr auto operation = "nn::quasiseparable_mixer::apply";

template <Storage T>
void run(const MixerTask<T>& task, const View<T, 4>& out) {
  using R = compute_t<T>;
  const View<const T, 2> x = task.direction[0].head.x;
  Array<R, 2> y(x.extents());
  for (int i = 0; i < 2; ++i) {
    const View<R, 2> to = task.written(i, y.view());
    walk(task.head(i), task.direction[i].initial_state,
         [&](index_t first, const SsdRows<R>& r, const HeadRows<T>&, const Array<R, 2>& sum) {
           for (index_t t = 0; t < r.tokens; ++t) {
             const R* const row = sum.data() + t * r.channels;
             R* const out_row = &to(first + t, 0);
             for (index_t p = 0; p < to.extent(1); ++p) out_row[p] += row[p];
           }
         });
  }
  const View<T, 2> result = task.direction[0].part(out);
  for (index_t t = 0; t < task.length; ++t) {
    for (index_t p = 0; p < x.extent(1); ++p) {
      result(t, p) = static_cast<T>(y(t, p) + task.diagonal(t, p) * static_cast<R>(x(t, p)));
    }
  }
}

}  // namespace

template <Storage T>
void apply(const exec::cpu& e, const QuasiseparableMixerView<T>& m, View<const T, 4> x,
           View<T, 4> y) {
  const MixerOperands<T> o(operation, m, x);
  detail::require_extents(operation, "y", y, x.extents());
  o.require_apart(operation, View<const T, 4>(y), "y");
  const int team = team_for(e.threads, 6 * x.size() * o.shape[0].states);
  parallel_for(team, o.tasks(), [&](index_t at) { run(MixerTask<T>(o, at), y); });
}

#define STRUCTMAT_INSTANTIATE(T)                                                               \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const QuasiseparableMixerView<T>&, \
                                          View<const T, 4>, View<T, 4>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
