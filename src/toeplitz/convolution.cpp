#include "structmat/toeplitz/convolution.hpp"

#include "core/instantiate.hpp"
#include "toeplitz/convolution_operands.hpp"

namespace structmat::toeplitz {
namespace {

/// Kernels of one batch entry as matrices of `channels` (or of one, when both are shared).
template <Scalar T>
Toeplitz<T> matrices(const View<const T, 3>& forward, const View<const T, 3>& backward,
                     index_t batch, index_t channels, index_t length) {
  Toeplitz<T> t(length, length, one_channel(forward, backward) ? 1 : channels);
  const auto write = [&](const View<const T, 3>& kernel, index_t first, index_t step) {
    if (!kernel.data()) return;
    const auto own = kernel.broadcast(1, t.batch()).select(0, kernel.extent(0) == 1 ? 0 : batch);
    for (index_t c = 0; c < t.batch(); ++c) {
      for (index_t l = first; l < std::min(length, kernel.extent(2)); ++l)
        t.lags(c, length - 1 + step * l) = own(c, l);
    }
  };
  write(forward, 0, 1);
  write(backward, 1, -1);
  return t;
}

/// For each part of the batch that has kernels of its own: act(matrices, first, last).
template <Scalar T, class Act>
void for_each_kernel(const View<const T, 3>& forward, const View<const T, 3>& backward,
                     const View<const T, 3>& x, const Act& act) {
  const index_t batch = x.extent(0), step = one_batch(forward, backward) ? batch : 1;
  if (x.empty()) return;
  for (index_t b = 0; b < batch; b += step)
    act(matrices<T>(forward, backward, b, x.extent(1), x.extent(2)), b, b + step);
}

}  // namespace

template <Scalar T>
void convolve(const exec::cpu& e, View<const T, 3> forward, View<const T, 3> backward,
              View<const T, 3> x, View<T, 3> y) {
  constexpr auto operation = "toeplitz::convolve";
  check_convolution(operation, forward, backward, x, y);
  for_each_kernel(forward, backward, x, [&](const Toeplitz<T>& t, index_t first, index_t last) {
    apply(e, t.view(), Op::none, by_channels(x.slice(0, first, last)),
          by_channels(y.slice(0, first, last)));
  });
}

template <Scalar T>
void convolve(const exec::cpu& e, View<const T, 3> forward, View<const T, 3> x, View<T, 3> y) {
  convolve<T>(e, forward, {}, x, y);
}

template <Scalar T>
void convolve_vjp(const exec::cpu& e, View<const T, 3> forward, View<const T, 3> backward,
                  View<const T, 3> x, View<const T, 3> y_bar, View<T, 3> forward_bar,
                  View<T, 3> backward_bar, View<T, 3> x_bar) {
  constexpr auto operation = "toeplitz::convolve_vjp";
  check_convolution_vjp(operation, forward, backward, x, y_bar, forward_bar, backward_bar, x_bar);
  const index_t length = x.extent(2);
  for_each_kernel(forward, backward, x, [&](const Toeplitz<T>& t, index_t first, index_t last) {
    Array<T, 2> lags_bar;
    if (forward_bar.data() || backward_bar.data()) lags_bar = Array<T, 2>(t.lags.extents());
    apply_vjp(e, t.view(), Op::none, by_channels(x.slice(0, first, last)),
              by_channels(y_bar.slice(0, first, last)), lags_bar.view(),
              x_bar.data() ? by_channels(x_bar.slice(0, first, last)) : View<T, 3>{});
    const auto add = [&](const View<T, 3>& bar, index_t start, index_t step) {
      if (!bar.data()) return;
      const auto own = bar.broadcast(1, t.batch()).select(0, bar.extent(0) == 1 ? 0 : first);
      for (index_t c = 0; c < t.batch(); ++c) {
        for (index_t l = start; l < std::min(length, bar.extent(2)); ++l)
          own(c, l) += lags_bar(c, length - 1 + step * l);
      }
    };
    add(forward_bar, 0, 1);
    add(backward_bar, 1, -1);
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT void convolve(const exec::cpu&, View<const T, 3>, View<const T, 3>, \
                                          View<T, 3>);                                          \
  template STRUCTMAT_EXPORT void convolve(const exec::cpu&, View<const T, 3>, View<const T, 3>, \
                                          View<const T, 3>, View<T, 3>);                        \
  template STRUCTMAT_EXPORT void convolve_vjp(                                                  \
      const exec::cpu&, View<const T, 3>, View<const T, 3>, View<const T, 3>, View<const T, 3>, \
      View<T, 3>, View<T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
