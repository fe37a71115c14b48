// Convolutions along sequences: every kernel is a Toeplitz matrix whose symbol is transformed in the call,
// sequences that share it are its right-hand sides.
#include "structmat/toeplitz/convolution.hpp"

#include <map>
#include <mutex>

#include "core/instantiate.hpp"
#include "toeplitz/convolution_operands.hpp"
#include "toeplitz/twisted.cuh"

namespace structmat::toeplitz {
namespace device {
namespace {

constexpr int threads = 256;

/// Numbers 0, ..., taps - 1 of kernels (matrix batch, matrix channel), zero beyond.
template <class T>
struct Kernels {
  gpu::Strided<const T, 3> data;
  index_t taps;

  __device__ T operator()(index_t b, index_t c, index_t l) const {
    return l < taps ? data(b, c, l) : T(0);
  }
};

/// a(b, c, sheet, l) := scale (f_l -+ i b_{L'-l}) for 0 <= l < L'.
template <class T>
struct FoldProblem {
  using R = gpu::real_of_t<T>;
  Kernels<T> forward, backward;
  Complex<R>* a;
  R scale;
  index_t batch, channels, length;
};

template <class T>
__global__ void __launch_bounds__(threads) fold_kernels(const __grid_constant__ FoldProblem<T> m) {
  using R = gpu::real_of_t<T>;
  constexpr int sheets = sheet_count<T>;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x;
       at < m.batch * m.channels * sheets * m.length; at += index_t{gridDim.x} * threads) {
    const index_t row = at / m.length, l = at - row * m.length;
    const index_t matrix = row / sheets, b = matrix / m.channels, c = matrix - b * m.channels;
    const T low = m.forward(b, c, l) * m.scale;
    const T high = l > 0 ? m.backward(b, c, m.length - l) * m.scale : T(0);
    const R sign = sign_of<R>(static_cast<int>(row - matrix * sheets));
    if constexpr (gpu::is_complex<T>)
      m.a[at] = {low.re + sign * high.im, low.im - sign * high.re};
    else
      m.a[at] = {low, -sign * high};
  }
}

/// bar(b, c, l) += sum of the cotangents of lag l, or -l, of the matrices that share a kernel.
template <class T>
struct CollectProblem {
  const T* lags;  ///< (matrix batch, matrix channels, 2 L - 1)
  gpu::Strided<T, 3> bar;
  index_t batch, channels;         ///< of the kernel
  index_t per_batch, per_channel;  ///< matrices that share one
  index_t matrix_channels, length, first, taps;
  int step;
};

template <class T>
__global__ void __launch_bounds__(threads) collect(const __grid_constant__ CollectProblem<T> m) {
  const index_t count = m.taps - m.first;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < m.batch * m.channels * count;
       at += index_t{gridDim.x} * threads) {
    const index_t row = at / count, l = m.first + (at - row * count);
    const index_t b = row / m.channels, c = row - b * m.channels;
    T sum(0);
    for (index_t i = 0; i < m.per_batch; ++i) {
      for (index_t j = 0; j < m.per_channel; ++j) {
        const index_t matrix = (b * m.per_batch + i) * m.matrix_channels + c * m.per_channel + j;
        sum += m.lags[matrix * (2 * m.length - 1) + m.length - 1 + m.step * l];
      }
    }
    m.bar(b, c, l) += sum;
  }
}

}  // namespace
}  // namespace device

namespace {

/// Transforms for sequences of a length on the current device; made once, and kept.
template <Scalar T>
const Twisted<T>& transforms(const char* operation, index_t length) {
  struct Kept {
    std::mutex mutex;
    std::map<std::pair<int, index_t>, Twisted<T>> all;
  };
  // Never destroyed: at the end of the program the device may be gone.
  static Kept& kept = *new Kept;
  gpu::require_device(operation);
  int current = 0;
  gpu::check(cudaGetDevice(&current), operation);
  const index_t own = Twisted<T>::length_for(length);
  const std::lock_guard lock(kept.mutex);
  return kept.all.try_emplace({current, own}, operation, own).first->second;
}

/// Kernels and sequences of one call.
template <Scalar T>
struct Convolution {
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;
  using C = gpu::Complex<R>;
  template <class E>
  using Sequences = View<E, 3, space::cuda>;

  const char* operation;
  cudaStream_t stream;
  Sequences<const T> forward, backward;
  index_t batch, channels, length;
  index_t matrix_batch, matrix_channels;  ///< matrices that differ
  const Twisted<T>& twisted;

  Convolution(const char* operation_, const exec::cuda& e, const Sequences<const T>& f,
              const Sequences<const T>& b, const Sequences<const T>& x)
      : operation(operation_),
        stream(gpu::stream_of(e)),
        forward(f),
        backward(b),
        batch(x.extent(0)),
        channels(x.extent(1)),
        length(x.extent(2)),
        matrix_batch(one_batch(f, b) ? 1 : batch),
        matrix_channels(one_channel(f, b) ? 1 : channels),
        twisted(transforms<T>(operation_, length)) {}

  index_t matrices() const { return matrix_batch * matrix_channels; }

  /// Matrices first, ..., as many as `from` and `to` have batch entries, and their columns.
  template <class E>
  struct Pass {
    index_t first;
    Sequences<const T> from;
    Sequences<E> to;
  };
  /// act(pass) for sequences from and to, of x and y or their cotangents.
  template <class E, class Act>
  void for_each_pass(const Sequences<const T>& from, const Sequences<E>& to, const Act& act) const {
    if (matrix_batch == 1) return act(Pass<E>{0, by_channels(from), by_channels(to)});
    if (matrix_channels == 1) return act(Pass<E>{0, from.transposed(), to.transposed()});
    const auto merges = [&](const auto& v) {
      return v.stride(0) == channels * v.stride(1) && v.stride(1) != 0;
    };
    const auto as_matrices = [&](const auto& v, index_t b, index_t count) {
      auto own = v.slice(0, b, b + count);
      return decltype(own){
          own.data(), {count * channels, length, 1}, {v.stride(1), v.stride(2), 0}};
    };
    const index_t together = merges(from) && merges(to) ? batch : 1;
    for (index_t b = 0; b < batch; b += together) {
      act(Pass<E>{b * channels, as_matrices(from, b, together), as_matrices(to, b, together)});
    }
  }

  struct Buffers {
    C *symbol, *z;
    std::byte* library;
  };
  index_t columns_at_once() const { return twisted.columns_at_once(batch * channels); }
  Buffers take(gpu::Workspace& w) const {
    C* const symbol = w.take<C>(matrices() * twisted.column_numbers());
    C* const z = w.take<C>(columns_at_once() * twisted.column_numbers());
    return {symbol, z, w.take<std::byte>(twisted.library_bytes())};
  }

  gpu::Grid grid(index_t work) const {
    return {gpu::persistent_blocks(work, device::threads, gpu::multiprocessors(operation)),
            device::threads};
  }

  void transform_kernels(const Buffers& w) const {
    const auto kernels = [&](const Sequences<const T>& k) {
      return device::Kernels<D>{gpu::strided(k), k.data() ? std::min(length, k.extent(2)) : 0};
    };
    const R scale = R(1) / static_cast<R>(twisted.length() * Twisted<T>::sheets);
    const device::FoldProblem<D> fold{kernels(forward), kernels(backward), w.symbol,        scale,
                                      matrix_batch,     matrix_channels,   twisted.length()};
    gpu::launch(operation, device::fold_kernels<D>, grid(matrices() * twisted.column_numbers()),
                stream, fold);
    twisted.transform_symbol(operation, stream, matrices(), w.symbol, w.library);
  }

  /// to := or += A from, or A^H from.
  void apply(const Buffers& w, bool adjoint, const Sequences<const T>& from, const Sequences<T>& to,
             bool add) const {
    for_each_pass(from, to, [&](const auto& pass) {
      const index_t k = pass.from.extent(2), columns = pass.from.extent(0) * k;
      const index_t numbers = twisted.column_numbers();
      twisted.apply(operation, stream, w.symbol + pass.first * numbers,
                    matrices() == 1 ? 0 : numbers, adjoint,
                    {gpu::strided(pass.from), length, false},
                    {gpu::strided(pass.to), length, false, add, nullptr, 0}, columns, k, w.z,
                    columns_at_once(), w.library);
    });
  }
};

template <Scalar T>
struct CotangentBuffers {
  typename Convolution<T>::Buffers product;
  gpu::device_scalar_t<T>* lags;
  typename Twisted<T>::Spectra spectra;
};

/// Of a correlation: sequences are columns of the matrices that they share.
template <Scalar T>
CotangentBuffers<T> take_for_vjp(gpu::Workspace& w, const Convolution<T>& c,
                                 const View<const T, 3, space::cuda>& x,
                                 const View<const T, 3, space::cuda>& y_bar) {
  CotangentBuffers<T> all{};
  all.product = c.take(w);
  all.lags = w.take<gpu::device_scalar_t<T>>(c.matrices() * (2 * c.length - 1));
  index_t entries = 0, count = 0;
  c.for_each_pass(x, y_bar, [&](const auto& pass) {
    const index_t columns = pass.from.extent(0) * pass.from.extent(2);
    entries = std::min(c.matrices(), pass.from.extent(0));
    count = columns / std::max<index_t>(1, entries);
  });
  all.spectra = c.twisted.correlate_layout(entries, count)(w);
  return all;
}

}  // namespace

template <Scalar T>
index_t convolve_workspace_bytes(View<const T, 3, space::cuda> forward,
                                 View<const T, 3, space::cuda> backward,
                                 View<const T, 3, space::cuda> x) {
  constexpr auto operation = "toeplitz::convolve_workspace_bytes";
  require_kernel(operation, "the forward kernel", forward, x.extents());
  require_kernel(operation, "the backward kernel", backward, x.extents());
  if (x.empty()) return 0;
  const Convolution<T> c(operation, {}, forward, backward, x);
  return gpu::counted(operation, [&](gpu::Workspace& w) { return c.take(w); });
}

template <Scalar T>
index_t convolve_vjp_workspace_bytes(View<const T, 3, space::cuda> forward,
                                     View<const T, 3, space::cuda> backward,
                                     View<const T, 3, space::cuda> x) {
  constexpr auto operation = "toeplitz::convolve_vjp_workspace_bytes";
  require_kernel(operation, "the forward kernel", forward, x.extents());
  require_kernel(operation, "the backward kernel", backward, x.extents());
  if (x.empty()) return 0;
  const Convolution<T> c(operation, {}, forward, backward, x);
  return gpu::counted(operation, [&](gpu::Workspace& w) { return take_for_vjp(w, c, x, x); });
}

template <Scalar T>
void convolve(const exec::cuda& e, View<const T, 3, space::cuda> forward,
              View<const T, 3, space::cuda> backward, View<const T, 3, space::cuda> x,
              View<T, 3, space::cuda> y) {
  constexpr auto operation = "toeplitz::convolve";
  check_convolution(operation, forward, backward, x, y);
  gpu::require_writable(operation, y, "y");
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y, "y");
  if (x.empty()) return;
  const Convolution<T> c(operation, e, forward, backward, x);
  const auto w =
      gpu::cut(operation, e.workspace, [&](gpu::Workspace& memory) { return c.take(memory); });
  c.transform_kernels(w);
  c.apply(w, false, x, y, false);
}

template <Scalar T>
void convolve(const exec::cuda& e, View<const T, 3, space::cuda> forward,
              View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  convolve<T>(e, forward, {}, x, y);
}

template <Scalar T>
void convolve_vjp(const exec::cuda& e, View<const T, 3, space::cuda> forward,
                  View<const T, 3, space::cuda> backward, View<const T, 3, space::cuda> x,
                  View<const T, 3, space::cuda> y_bar, View<T, 3, space::cuda> forward_bar,
                  View<T, 3, space::cuda> backward_bar, View<T, 3, space::cuda> x_bar) {
  using D = gpu::device_scalar_t<T>;
  constexpr auto operation = "toeplitz::convolve_vjp";
  check_convolution_vjp(operation, forward, backward, x, y_bar, forward_bar, backward_bar, x_bar);
  const auto require_output = [&](const auto& bar, const char* name) {
    if (!bar.data()) return;
    gpu::require_writable(operation, bar, name);
    gpu::require_apart(operation, e.workspace, bar, name);
  };
  require_output(forward_bar, "the cotangent of the forward kernel");
  require_output(backward_bar, "the cotangent of the backward kernel");
  require_output(x_bar, "x_bar");
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y_bar, "y_bar");
  if (x.empty()) return;
  const Convolution<T> c(operation, e, forward, backward, x);
  const auto w = gpu::cut(operation, e.workspace, [&](gpu::Workspace& memory) {
    return take_for_vjp(memory, c, x, y_bar);
  });
  if (x_bar.data()) {
    c.transform_kernels(w.product);
    c.apply(w.product, true, y_bar, x_bar, true);
  }
  if (!forward_bar.data() && !backward_bar.data()) return;

  const index_t diagonals = 2 * c.length - 1;
  gpu::check(
      cudaMemsetAsync(w.lags, 0, static_cast<std::size_t>(c.matrices() * diagonals) * sizeof(D),
                      c.stream),
      operation);
  c.for_each_pass(x, y_bar, [&](const auto& pass) {
    const index_t k = pass.from.extent(2);
    const index_t entries = std::min(c.matrices(), pass.from.extent(0));
    const index_t count = pass.from.extent(0) * k / entries;
    c.twisted.correlate(operation, c.stream, {gpu::strided(pass.to), c.length, false},
                        {gpu::strided(pass.from), c.length, false}, entries, count, k,
                        {w.lags + pass.first * diagonals, {diagonals, 1}}, c.length, c.length,
                        false, c.twisted.pieces(entries, count), w.spectra);
  });
  const auto add = [&](const View<T, 3, space::cuda>& bar, index_t first, int step) {
    if (!bar.data()) return;
    const index_t taps = std::min(c.length, bar.extent(2));
    if (taps <= first) return;
    const device::CollectProblem<D> m{w.lags,
                                      gpu::strided(bar),
                                      bar.extent(0),
                                      bar.extent(1),
                                      c.matrix_batch / bar.extent(0),
                                      c.matrix_channels / bar.extent(1),
                                      c.matrix_channels,
                                      c.length,
                                      first,
                                      taps,
                                      step};
    gpu::launch(operation, device::collect<D>,
                c.grid(bar.extent(0) * bar.extent(1) * (taps - first)), c.stream, m);
  };
  add(forward_bar, 0, 1);
  add(backward_bar, 1, -1);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT index_t convolve_workspace_bytes(View<const T, 3, space::cuda>,        \
                                                             View<const T, 3, space::cuda>,        \
                                                             View<const T, 3, space::cuda>);       \
  template STRUCTMAT_EXPORT index_t convolve_vjp_workspace_bytes(View<const T, 3, space::cuda>,    \
                                                                 View<const T, 3, space::cuda>,    \
                                                                 View<const T, 3, space::cuda>);   \
  template STRUCTMAT_EXPORT void convolve(const exec::cuda&, View<const T, 3, space::cuda>,        \
                                          View<const T, 3, space::cuda>, View<T, 3, space::cuda>); \
  template STRUCTMAT_EXPORT void convolve(const exec::cuda&, View<const T, 3, space::cuda>,        \
                                          View<const T, 3, space::cuda>,                           \
                                          View<const T, 3, space::cuda>, View<T, 3, space::cuda>); \
  template STRUCTMAT_EXPORT void convolve_vjp(                                                     \
      const exec::cuda&, View<const T, 3, space::cuda>, View<const T, 3, space::cuda>,             \
      View<const T, 3, space::cuda>, View<const T, 3, space::cuda>, View<T, 3, space::cuda>,       \
      View<T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
