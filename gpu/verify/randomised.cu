#include "structmat/verify/randomised.hpp"

#include "core/instantiate.hpp"
#include "core/random.cuh"
#include "core/workspace.cuh"
#include "dense/inspect.cuh"
#include "structmat/dense/blas.hpp"
#include "verify/compression_bounds.cuh"
#include "verify/randomised_judgement.hpp"

namespace structmat::verify {
namespace {

constexpr auto operation = randomised_name;

/// Rows [begin, end) of a row-major array of `columns` numbers a row, the first `used` of them.
template <Scalar T>
Array<T, 2> fetch_rows(const gpu::device_scalar_t<T>* from, index_t columns, index_t begin,
                       index_t end, index_t used) {
  Array<T, 2> to({end - begin, used}, uninitialized);
  if (!to.empty()) {
    gpu::check(
        cudaMemcpy2D(to.data(), used * sizeof(T), from + begin * columns, columns * sizeof(T),
                     used * sizeof(T), end - begin, cudaMemcpyDeviceToHost),
        operation);
  }
  return to;
}

/// Both families on the device.
template <Scalar T>
class DeviceCheck {
 public:
  using D = gpu::device_scalar_t<T>;

  /// a: row-major.
  DeviceCheck(const exec::cuda& e, View<const T, 2, space::cuda> a, T scale, Order order,
              index_t oversampling, std::uint64_t seed)
      : stream_(gpu::stream_of(e)),
        processors_(gpu::multiprocessors(operation)),
        a_(a),
        scale_(*gpu::device_pointer(&scale)),
        n_(a.extent(0)) {
    const index_t s[] = {probe_count(order.lower, oversampling),
                         probe_count(order.upper, oversampling)};
    pitch_ = std::max(s[0], s[1]);
    const index_t stretch = stretch_of(pitch_), unit = std::max(panel, stretch),
                  padded = (n_ + unit - 1) / unit * unit;
    // One allocation: each takes a good part of a millisecond.
    D* g[2];
    const auto layout = [&](gpu::Workspace& w) {
      for (D*& probes : g) probes = w.take<D>(padded * pitch_);
      for (int i = 0; i < 2; ++i) {
        D *const x1 = w.take<D>(padded * s[i]), *const x2 = w.take<D>(padded * s[i]),
                 *const starts = w.take<D>((padded / stretch + 1) * s[i] * s[i]);
        families_[i] = {g[0],
                        g[1],
                        x1,
                        x2,
                        starts,
                        n_,
                        padded,
                        pitch_,
                        stretch,
                        static_cast<int>(s[i]),
                        static_cast<int>(i == 0 ? order.lower : order.upper)};
      }
      corners_ = w.take<D>(padded * panel);
      out_ = w.take<double>(2 * n_);
      blas_memory_ = w.take<std::byte>(gpu::Blas::workspace_bytes);
    };
    memory_ = Array<std::byte, 1, space::cuda>({gpu::counted(operation, layout)}, uninitialized);
    gpu::cut(operation, memory_.view(), layout);
    for (int i = 0; i < 2; ++i) {
      gpu::fill_gaussian<D>(operation, g[i], n_ * pitch_, gpu::random_bits(seed, i), processors_,
                            stream_);
      gpu::check(
          cudaMemsetAsync(g[i] + n_ * pitch_, 0, (padded - n_) * pitch_ * sizeof(D), stream_),
          operation);
    }
  }

  index_t probes(int i) const { return families_[i].s; }

  void multiply() {
    const gpu::Blas blas(operation, stream_, blas_memory_);
    multiply_probes<D>(operation, blas, gpu::device_pointer(a_.data()), a_.stride(0), scale_,
                       families_[0], families_[1], corners_, processors_, stream_);
    for (const auto& f : families_) make_starts(operation, blas, f, processors_, stream_);
    bound();
  }

  /// ||M_n||_F, the larger one.
  double drift() const {
    double largest = 0;
    for (const auto& f : families_) {
      const index_t last = f.padded / f.stretch * f.s;
      double squares = 0;
      for (const T& v : fetch_rows<T>(f.starts, f.s, last, last + f.s, f.s)) {
        squares += static_cast<double>(std::norm(v));
      }
      largest = std::max(largest, std::sqrt(squares));
    }
    return largest;
  }

  /// See Family. Of the bounds above `limit`, the largest first, the singular values themselves are
  /// computed until one of those is above it too.
  template <class CanExceed>
  std::vector<double> bounds(int i, double limit, const CanExceed& can_exceed) {
    std::vector<double> bound = bounds_[i];
    std::vector<index_t> doubtful;
    for (index_t k = 1; k < n_; ++k) {
      if (bound[k] > limit && can_exceed(k)) doubtful.push_back(k);
    }
    std::stable_sort(doubtful.begin(), doubtful.end(),
                     [&](index_t a, index_t b) { return bound[a] > bound[b]; });
    const auto total = static_cast<index_t>(doubtful.size());
    // Few at first: where the order is exceeded, the first one shows it.
    index_t at_once = std::max(1, processors_ / 4);
    for (index_t done = 0; done < total; at_once *= 8) {
      const index_t count = std::min(at_once, total - done);
      const std::vector<double> values = refine(i, doubtful.data() + done, count);
      double largest = 0;
      for (index_t l = 0; l < count; ++l) {
        double& b = bound[doubtful[done + l]];
        b = std::min(b, values[l]);
        largest = std::max(largest, b);
      }
      if (largest > limit) break;
      done += count;
    }
    return bound;
  }

  /// M_k on the host.
  Array<T, 2> compression(int i, index_t k) const {
    const auto& f = families_[i];
    const index_t s = f.s, start = k / f.stretch, begin = start * f.stretch;
    Array<T, 2> m = fetch_rows<T>(f.starts, s, start * s, (start + 1) * s, s);
    const Array<T, 2> g1 = fetch_rows<T>(f.g1, pitch_, begin, k, s),
                      g2 = fetch_rows<T>(f.g2, pitch_, begin, k, s),
                      x1 = fetch_rows<T>(f.x1, s, begin, k, s),
                      x2 = fetch_rows<T>(f.x2, s, begin, k, s);
    for (index_t row = 0; row < k - begin; ++row) {
      for (index_t a = 0; a < s; ++a) {
        const T left = conjugate(g2(row, a)), right = conjugate(x2(row, a));
        for (index_t b = 0; b < s; ++b) m(a, b) += right * g1(row, b) - left * x1(row, b);
      }
    }
    return m;
  }

  Array<T, 2> probes_of(int i, index_t k) const {
    return fetch_rows<T>(families_[i].g1, pitch_, 0, i == 0 ? k : n_ - k, probes(i));
  }

  /// op(block at k) x, from the host to the host.
  Array<T, 2> block(int i, index_t k, Op op, View<const T, 2> x) const {
    const auto lower = a_.slice(0, k, n_).slice(1, 0, k), upper = a_.slice(0, 0, k).slice(1, k, n_);
    const auto m = i == 0 ? lower : upper;
    const auto there = to_device(to_array(x));
    Array<T, 2, space::cuda> y({m.extent(op == Op::none ? 0 : 1), x.extent(1)});
    Array<std::byte, 1, space::cuda> memory({dense::gemm_workspace_bytes<T>()}, uninitialized);
    dense::gemm<T>({stream_, memory}, op, Op::none, T{1}, m, there, T{0}, y);
    return to_host(y);
  }

 private:
  /// What one block may have of shared memory, less what the sums of a block take.
  index_t shared_limit() const {
    int device = 0, limit = 0;
    gpu::check(cudaGetDevice(&device), operation);
    gpu::check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               operation);
    return limit - 1024;
  }
  /// A warp for every two columns.
  static unsigned threads_for(index_t columns, index_t most) {
    return static_cast<unsigned>(std::clamp<index_t>((columns + 1) / 2 * 32, 32, most));
  }

  void bound() {
    // So many entries of a matrix has a thread at most in registers.
    constexpr index_t most = sizeof(D) > sizeof(double) ? 4 : 8;
    const index_t edge = (pitch_ + gpu::grid_side - 1) / gpu::grid_side;
    if (edge <= 2) {
      bound_with<2>(2);
    } else if (edge <= 4) {
      bound_with<4>(4);
    } else if constexpr (most > 4) {
      if (edge <= 6) {
        bound_with<6>(6);
      } else if (edge <= 8) {
        bound_with<8>(8);
      } else {
        bound_with<0>(edge);
      }
    } else {
      bound_with<0>(edge);
    }
    for (int i = 0; i < 2; ++i) {
      bounds_[i].resize(n_);
      gpu::check(cudaMemcpyAsync(bounds_[i].data(), out_ + i * n_, n_ * sizeof(double),
                                 cudaMemcpyDeviceToHost, stream_),
                 operation);
    }
    gpu::check(cudaStreamSynchronize(stream_), operation);
  }

  template <int Edge>
  void bound_with(index_t edge) const {
    const index_t square = matrix_numbers(edge),
                  bytes_of_square = square * static_cast<index_t>(sizeof(D));
    index_t shared = bound_bytes<D>(edge, std::max(families_[0].order, families_[1].order));
    if (shared > shared_limit()) {
      throw Unsupported(std::string(operation) + ": " + std::to_string(pitch_) +
                        " probes are too many for the device");
    }
    const auto fits = [&] { return shared + bytes_of_square <= shared_limit(); };
    // Work is read most often.
    const bool work_outside = Edge == 0 && !fits();
    if (Edge == 0 && !work_outside) shared += bytes_of_square;
    const bool m_outside = !fits();
    if (!m_outside) shared += bytes_of_square;
    const index_t items = 2 * families_[0].padded / families_[0].stretch;
    const unsigned blocks = gpu::persistent_blocks(items, 1, processors_);
    Array<D, 1, space::cuda> m({m_outside ? blocks * square : 0}, uninitialized),
        work({work_outside ? blocks * square : 0}, uninitialized);
    gpu::launch(operation, bounds_kernel<D, Edge>,
                gpu::Grid{blocks, gpu::grid_threads, static_cast<std::size_t>(shared)}, stream_,
                Bounds<D>{{families_[0], families_[1]},
                          {out_, out_ + n_},
                          static_cast<int>(edge),
                          m_outside ? m.data() : nullptr,
                          work_outside ? work.data() : nullptr});
    // What it uses ends here.
    if (m_outside || work_outside) gpu::check(cudaStreamSynchronize(stream_), operation);
  }

  std::vector<double> refine(int i, const index_t* k, index_t count) {
    const DeviceCompressions<D>& f = families_[i];
    const index_t size = static_cast<index_t>(sizeof(D)), s = f.s, square = s * s;
    const index_t small = 4 * s * size + gpu::sort_bytes<real_t<T>>(s);
    const bool in_shared = square * size + small <= shared_limit();
    const auto blocks = static_cast<unsigned>(std::min<index_t>(count, 4 * processors_));
    Array<D, 1, space::cuda> m({blocks * square}, uninitialized),
        work({in_shared ? 0 : blocks * square}, uninitialized);
    Array<index_t, 1, space::cuda> list({count}, uninitialized);
    Array<double, 1, space::cuda> out({count}, uninitialized);
    structmat::detail::copy_host_to_device(list.data(), k, count * sizeof(index_t));
    gpu::launch(
        operation, refine_kernel<D>,
        gpu::Grid{blocks, threads_for(s, refine_threads),
                  static_cast<std::size_t>(small + (in_shared ? square * size : 0))},
        stream_,
        Refine<D>{f, list.data(), count, out.data(), m.data(), in_shared ? nullptr : work.data()});
    gpu::check(cudaStreamSynchronize(stream_), operation);
    const Array<double, 1> values = to_host(out);
    return {values.begin(), values.end()};
  }

  cudaStream_t stream_;
  int processors_;
  View<const T, 2, space::cuda> a_;
  D scale_;
  index_t n_, pitch_ = 0;
  Array<std::byte, 1, space::cuda> memory_;  ///< what the pointers below point to
  std::byte* blas_memory_ = nullptr;
  D* corners_ = nullptr;
  double* out_ = nullptr;
  DeviceCompressions<D> families_[2];
  std::vector<double> bounds_[2];
};

}  // namespace

template <Scalar T>
RandomisedReport randomised(const exec::cuda& e, View<const T, 2, space::cuda> a,
                            const RandomisedOptions& options) {
  check_options(options);
  const index_t n = a.extent(0);
  if (a.extent(1) != n) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(n) + " x " +
                     std::to_string(a.extent(1)) + ", it must be square");
  }
  const auto fits = [n](const View<const T, 2, space::cuda>& m) {
    return n <= 1 || (m.stride(1) == 1 && m.stride(0) >= n);
  };
  // The transpose of a column-major matrix needs no copy; its parts are exchanged.
  const bool exchanged = !fits(a) && fits(a.transposed());
  if (!fits(a) && !exchanged) {
    throw Unsupported(std::string(operation) + ": the matrix has strides (" +
                      std::to_string(a.stride(0)) + ", " + std::to_string(a.stride(1)) +
                      "), on the device one of them must be 1 and the other at least " +
                      std::to_string(n));
  }
  RandomisedReport report;
  report.size = n;
  report.asked = options.order;
  report.seed = options.seed;
  report.frobenius_norm =
      gpu::finite_norm<T>(operation, a, gpu::multiprocessors(operation), gpu::stream_of(e));
  const T scale = scale_of<T>(n, report.frobenius_norm);
  // No block of an n x n matrix has a rank above n / 2.
  const Order asked = exchanged ? Order{options.order.upper, options.order.lower} : options.order;
  const Order order{std::min(asked.lower, n / 2), std::min(asked.upper, n / 2)};

  std::vector<Family<T>> families(2);
  std::optional<DeviceCheck<T>> check;
  for (int i = 0; i < 2; ++i) {
    Family<T>& f = families[i];
    f.size = n;
    f.order = i == 0 ? order.lower : order.upper;
    f.probes = probe_count(f.order, options.oversampling);
    f.part = (i == 0) != exchanged ? Part::lower : Part::upper;
    f.bounds = [&check, &f, i](double limit) {
      return check->bounds(i, limit, [&f](index_t k) { return f.can_exceed(k); });
    };
    f.compression = [&check, i](index_t k) { return check->compression(i, k); };
    f.block = [&check, i](index_t k, Op op, View<const T, 2> x) {
      return check->block(i, k, op, x);
    };
    f.probes_of = [&check, i](index_t k) { return check->probes_of(i, k); };
    report.probes = std::max(report.probes, f.probes);
  }
  set_levels(families, options, report);
  if (families[0].blocks() + families[1].blocks() > 0) {
    check.emplace(e, exchanged ? a.transposed() : a, scale, order, options.oversampling,
                  options.seed);
    check->multiply();
    report.drift = check->drift();
    for (const auto& f : families) judge(f, scale, report);
  }
  if (options.progress) options.progress(1);
  return report;
}

#define STRUCTMAT_INSTANTIATE(T)                            \
  template STRUCTMAT_EXPORT RandomisedReport randomised<T>( \
      const exec::cuda&, View<const T, 2, space::cuda>, const RandomisedOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
