#include "structmat/verify/rank_profile.hpp"

#include "core/instantiate.hpp"
#include "dense/inspect.cuh"
#include "quasiseparable/triangle_sweep.cuh"
#include "verify/block_counter.hpp"

namespace structmat::verify {
namespace {

using quasiseparable::PairSweep;
using quasiseparable::Pool;

/// Singular values of the matrices that stand for blocks begin + t of one triangle,
///   [P(t:, :) D(t:, :t + extra); diag(sigma) V^H(:, :r + t + extra)],
/// one matrix a block of threads, by one-sided Jacobi rotations.
template <class D>
struct BlockValues {
  const D* p;                  ///< scale * P by columns: size x r
  gpu::Strided<const D, 2> d;  ///< size x size
  const D* v;                  ///< by columns: (r + size) x kept
  const gpu::real_of_t<D>* sigma;
  gpu::real_of_t<D> scale;  ///< for d
  int size, r, kept, extra;
  int first, step, count;  ///< t = first, first + step, ...
  double* out;             ///< pitch numbers for each t, descending
  index_t pitch;
  D* scratch;  ///< scratch_stride numbers a block, or null: in shared memory
  index_t scratch_stride;
};

inline constexpr int value_threads = 512;

template <class D>
__global__ void __launch_bounds__(value_threads)
    block_values_kernel(const __grid_constant__ BlockValues<D> b) {
  using R = gpu::real_of_t<D>;
  const int threads = static_cast<int>(blockDim.x);
  for (int item = static_cast<int>(blockIdx.x); item < b.count;
       item += static_cast<int>(gridDim.x)) {
    const int t = b.first + item * b.step, top = b.size - t, rows = top + b.kept,
              columns = b.r + t + b.extra;
    const bool tall = rows >= columns;
    const int longer = tall ? rows : columns, shorter = tall ? columns : rows;
    D* const memory = gpu::dynamic_shared<D>();
    D* const h = b.scratch == nullptr ? memory : b.scratch + blockIdx.x * b.scratch_stride;
    R* const norms = reinterpret_cast<R*>(memory + (b.scratch == nullptr ? longer * shorter : 0));
    int* const places = reinterpret_cast<int*>(norms + shorter);
    for (int at = static_cast<int>(threadIdx.x); at < rows * columns; at += threads) {
      const int i = at % rows, j = at / rows;
      D value;
      if (i >= top) {
        value = gpu::conjugate(b.v[j + index_t{i - top} * (b.r + b.size)]) * b.sigma[i - top];
      } else if (j < b.r) {
        value = b.p[t + i + j * b.size];
      } else {
        value = b.d(t + i, j - b.r) * b.scale;
      }
      // The adjoint where it is wide: rotations act on the shorter side.
      h[tall ? at : j + i * columns] = tall ? value : gpu::conjugate(value);
    }
    __syncthreads();
    gpu::block_jacobi(h, longer, longer, shorter);
    gpu::block_sort(h, longer, longer, shorter, norms, places);
    for (int i = static_cast<int>(threadIdx.x); i < shorter; i += threads) {
      b.out[t * b.pitch + places[i]] = static_cast<double>(norms[i]);
    }
    __syncthreads();
  }
}

/// Is anything strictly above the diagonal not zero? A flag a block.
template <class D>
struct Above {
  gpu::Strided<const D, 2> a;
  index_t n;
  int* out;
};
template <class D>
__global__ void above_kernel(const __grid_constant__ Above<D> p) {
  int found = 0;
  for (index_t i = blockIdx.x; i < p.n; i += gridDim.x) {
    for (index_t j = i + 1 + threadIdx.x; j < p.n; j += blockDim.x) found |= !(p.a(i, j) == D(0));
  }
  found = __syncthreads_or(found);
  if (threadIdx.x == 0) p.out[blockIdx.x] = found;
}

template <Scalar T>
class DeviceProfile {
 public:
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;

  DeviceProfile(const char* operation, const exec::cuda& e, View<const T, 2, space::cuda> m,
                R scale)
      : operation_(operation),
        stream_(gpu::stream_of(e)),
        processors_(gpu::multiprocessors(operation)),
        m_(m),
        scale_(scale),
        sweep_(operation, e, m, scale) {
    int device = 0;
    gpu::check(cudaGetDevice(&device), operation);
    gpu::check(
        cudaDeviceGetAttribute(&shared_limit_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        operation);
  }

  index_t state() const { return std::max(sweep_.state(0), sweep_.state(1)); }

  /// Ranks for all k inside the block, of the triangles that are counted (null otherwise). False once
  /// the order asked for is exceeded.
  bool block(index_t begin, index_t size, const std::array<BlockCounter*, 2>& counters) {
    pool_.clear();
    const D* p[2];
    index_t r[2];
    std::array<quasiseparable::Truncation, 2> truncation{};
    for (int i = 0; i < 2; ++i) {
      p[i] = sweep_.rows(i, begin, size, pool_);
      r[i] = sweep_.state(i);
      // What a triangle that is not counted would need is nothing: it holds zeros.
      if (counters[i] == nullptr) continue;
      truncation[i] = counters[i]->template truncation<T>(size);
      truncation[i].tail *= double(scale_);
    }
    sweep_.advance(begin, size, truncation, pool_);
    bool fits = true;
    for (int i = 0; i < 2; ++i) {
      if (counters[i] == nullptr) continue;
      BlockCounter& counter = *counters[i];
      const index_t n = m_.extent(0), kept = sweep_.state(i), extra = counter.extra;
      const auto m = i == 0 ? m_ : m_.transposed();
      BlockValues<D> b{};
      b.p = p[i];
      b.d = gpu::strided(m.slice(0, begin, begin + size).slice(1, begin, begin + size));
      b.v = sweep_.basis(i);
      b.scale = scale_;
      b.size = static_cast<int>(size);
      b.r = static_cast<int>(r[i]);
      b.kept = static_cast<int>(kept);
      b.extra = static_cast<int>(extra);
      std::vector<R> sigma(kept);
      for (index_t l = 0; l < kept; ++l) sigma[l] = R(sweep_.values(i)[l]);
      R* const on_device = sigma_.at_least(kept);
      gpu::check(cudaMemcpyAsync(on_device, sigma.data(), kept * sizeof(R), cudaMemcpyHostToDevice,
                                 stream_),
                 operation_);
      b.sigma = on_device;

      // H_0 of the strict triangle is empty.
      const index_t first = extra == 0 && begin == 0 ? 1 : 0, last = size - 1;
      if (first <= last) {
        std::vector<index_t> ranks(size);
        const auto count = [&](index_t from, index_t step, index_t number) {
          const auto values = this->values(b, from, step, number);
          for (index_t item = 0; item < number; ++item) {
            const index_t t = from + item * step;
            ranks[t] = counter.count(begin + t, values[item]);
          }
        };
        // Where states are large, the ends may settle the rest.
        constexpr index_t large = 64;
        if (std::max(r[i], kept) >= large && last - first >= 2) {
          count(first, last - first, 2);
          if (!counter.settled(ranks, begin, first, last)) count(first + 1, 1, last - first - 1);
        } else {
          count(first, 1, last - first + 1);
        }
        counter.half.ranks.insert(counter.half.ranks.end(), ranks.begin() + first, ranks.end());
      }
      fits &= !counter.exceeded() || begin + size == n;
    }
    gpu::check(cudaStreamSynchronize(stream_), operation_);
    return fits;
  }

 private:
  /// Singular values of blocks t = from + item * step, unscaled.
  std::vector<std::vector<double>> values(BlockValues<D> b, index_t from, index_t step,
                                          index_t number) {
    const index_t size = b.size;
    index_t largest = 0, pitch = 0;
    for (index_t item = 0; item < number; ++item) {
      const index_t t = from + item * step, rows = size - t + b.kept, columns = b.r + t + b.extra;
      largest = std::max(largest, rows * columns);
      pitch = std::max(pitch, std::min(rows, columns));
    }
    b.first = static_cast<int>(from);
    b.step = static_cast<int>(step);
    b.count = static_cast<int>(number);
    b.pitch = pitch;
    b.out = values_.at_least(size * pitch);
    const index_t small = gpu::sort_bytes<R>(pitch);
    index_t bytes = largest * static_cast<index_t>(sizeof(D)) + small;
    // Blocks that do not fit into shared memory are worked on in global memory.
    const unsigned blocks = static_cast<unsigned>(std::min<index_t>(number, 4 * processors_));
    if (bytes > shared_limit_) {
      b.scratch_stride = largest;
      b.scratch = scratch_.at_least(blocks * largest);
      bytes = small;
    }
    const unsigned threads =
        static_cast<unsigned>(std::clamp<index_t>((pitch + 3) / 4 * 32, 32, value_threads));
    gpu::launch(operation_, block_values_kernel<D>,
                gpu::Grid{blocks, threads, static_cast<std::size_t>(bytes)}, stream_, b);
    std::vector<double> found(size * pitch);
    gpu::check(cudaMemcpyAsync(found.data(), b.out, found.size() * sizeof(double),
                               cudaMemcpyDeviceToHost, stream_),
               operation_);
    gpu::check(cudaStreamSynchronize(stream_), operation_);
    std::vector<std::vector<double>> all;
    for (index_t item = 0; item < number; ++item) {
      const index_t t = from + item * step,
                    count = std::min<index_t>(size - t + b.kept, b.r + t + b.extra);
      const double* const own = found.data() + t * pitch;
      all.emplace_back(own, own + count);
      for (double& v : all.back()) v /= double(scale_);
    }
    return all;
  }

  const char* operation_;
  cudaStream_t stream_;
  int processors_, shared_limit_ = 0;
  View<const T, 2, space::cuda> m_;
  R scale_;
  PairSweep<T> sweep_;
  Pool<D> pool_;
  quasiseparable::Buffer<R> sigma_;
  quasiseparable::Buffer<double> values_;
  quasiseparable::Buffer<D> scratch_;
};

template <Scalar T>
bool is_lower_triangular(const char* operation, const exec::cuda& e,
                         const View<const T, 2, space::cuda>& m) {
  using D = gpu::device_scalar_t<T>;
  const index_t n = m.extent(0);
  if (n == 0) return true;
  constexpr int threads = 256;
  const unsigned blocks = gpu::persistent_blocks(n, 1, gpu::multiprocessors(operation));
  Array<int, 1, space::cuda> flags({blocks}, uninitialized);
  gpu::launch(operation, above_kernel<D>, blocks, threads, gpu::stream_of(e),
              Above<D>{gpu::strided(m), n, flags.data()});
  gpu::check(cudaStreamSynchronize(gpu::stream_of(e)), operation);
  const Array<int, 1> found = to_host(flags);
  return std::none_of(found.begin(), found.end(), [](int flag) { return flag != 0; });
}

template <Scalar T>
double checked_norm(const char* operation, const exec::cuda& e,
                    const View<const T, 2, space::cuda>& m, const Options& options) {
  if (m.extent(0) != m.extent(1)) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.extent(0)) +
                     " x " + std::to_string(m.extent(1)) + ", it must be square");
  }
  if (options.relative != Relative::matrix) {
    throw Unsupported(std::string(operation) +
                      ": relative to the block is not offered on the device");
  }
  return gpu::finite_norm<T>(operation, m, gpu::multiprocessors(operation), gpu::stream_of(e));
}

template <Scalar T>
Report check(const char* operation, const exec::cuda& e, View<const T, 2, space::cuda> m,
             index_t extra, bool with_lower, bool with_upper, double norm, const Options& options) {
  const index_t n = m.extent(0);
  const double tolerance = options.tolerance.value_or(double(n) * double(epsilon<T>));
  require_tolerance_and_order(operation, tolerance, options.order);
  // Kernels expect entries at a scale about 1. A power of two, so that no bit changes.
  constexpr int furthest = std::numeric_limits<real_t<T>>::max_exponent - 2;
  const int exponent = norm > 0 ? std::clamp(std::ilogb(norm), -furthest, furthest) : 0;
  DeviceProfile<T> profile(operation, e, m, real_t<T>(std::ldexp(1.0, -exponent)));
  BlockCounter lower = block_counter(Part::lower, n, extra, norm, tolerance, options),
               upper = block_counter(Part::upper, n, extra, norm, tolerance, options);
  const bool may_stop = options.order && options.stop_at_violation;
  index_t begin = 0;
  while (begin < n) {
    // About twice the order balances the steps of the sweep and the matrices that stand for blocks.
    constexpr index_t least = 16, most = 128;
    const index_t size = std::min(n - begin, std::clamp(2 * profile.state(), least, most));
    const bool fits =
        profile.block(begin, size, {with_lower ? &lower : nullptr, with_upper ? &upper : nullptr});
    begin += size;
    if (options.progress) options.progress(double(begin) / double(n));
    if (may_stop && !fits) break;
  }
  Report report = whole(lower.half, upper.half, options);
  report.size = n;
  report.complete = begin == n;
  report.tolerance = tolerance;
  report.frobenius_norm = norm;
  return report;
}

}  // namespace

template <Scalar T>
Report quasiseparable(const exec::cuda& e, View<const T, 2, space::cuda> m,
                      const Options& options) {
  constexpr auto operation = "verify::quasiseparable";
  const double norm = checked_norm<T>(operation, e, m, options);
  Report report = check<T>(operation, e, m, 0, true, true, norm, options);
  report.property = "quasiseparable";
  return report;
}

template <Scalar T>
Report semiseparable(const exec::cuda& e, View<const T, 2, space::cuda> m, const Options& options) {
  constexpr auto operation = "verify::semiseparable";
  const double norm = checked_norm<T>(operation, e, m, options);
  const bool lower = is_lower_triangular<T>(operation, e, m);
  const bool upper = !lower && is_lower_triangular<T>(operation, e, m.transposed());
  Report report = check<T>(operation, e, m, 1, !upper, !lower, norm, options);
  report.property = "semiseparable";
  return report;
}

#define STRUCTMAT_INSTANTIATE(T)                                         \
  template STRUCTMAT_EXPORT Report quasiseparable<T>(                    \
      const exec::cuda&, View<const T, 2, space::cuda>, const Options&); \
  template STRUCTMAT_EXPORT Report semiseparable<T>(                     \
      const exec::cuda&, View<const T, 2, space::cuda>, const Options&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
