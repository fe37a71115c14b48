#include "structmat/toeplitz/plan.hpp"

#include "core/instantiate.hpp"
#include "toeplitz/apply_direct.cuh"
#include "toeplitz/magnitude.hpp"
#include "toeplitz/plan_state.cuh"

namespace structmat {
namespace toeplitz {
namespace device {
namespace {

constexpr int threads = 256;

/// lags(b, l) := the lags of any of the four families, in order.
template <class T>
struct CopyProblem {
  Lags<T> from;
  T* to;
  index_t batch, count;
};

template <class T>
__global__ void __launch_bounds__(threads) copy_lags(const __grid_constant__ CopyProblem<T> m) {
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < m.batch * m.count;
       at += index_t{gridDim.x} * threads) {
    const index_t b = at / m.count;
    m.to[at] = m.from(b, at - b * m.count - (m.from.cols - 1));
  }
}

/// The largest modulus of a part of each row, and whether all are finite.
template <class T>
struct InspectProblem {
  using R = gpu::real_of_t<T>;
  const T* rows;
  R* largest;
  int* finite;
  index_t batch, count;
};

template <class T>
__global__ void __launch_bounds__(threads) inspect(const __grid_constant__ InspectProblem<T> m) {
  using R = gpu::real_of_t<T>;
  __shared__ R largest[threads];
  for (index_t b = blockIdx.x; b < m.batch; b += gridDim.x) {
    R own = 0;
    int finite = 1;
    const auto take = [&](R part) {
      if (isfinite(part))
        own = fabs(part) > own ? fabs(part) : own;
      else
        finite = 0;
    };
    for (index_t i = threadIdx.x; i < m.count; i += threads) {
      const T v = m.rows[b * m.count + i];
      if constexpr (gpu::is_complex<T>) {
        take(v.re);
        take(v.im);
      } else {
        take(v);
      }
    }
    finite = __syncthreads_and(finite);
    largest[threadIdx.x] = own;
    for (int width = threads / 2; width > 0; width /= 2) {
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < width) {
        const R other = largest[threadIdx.x + width];
        if (other > largest[threadIdx.x]) largest[threadIdx.x] = other;
      }
    }
    if (threadIdx.x == 0) {
      m.largest[b] = largest[0];
      m.finite[b] = finite;
    }
    __syncthreads();
  }
}

/// a(b, sheet, l) := scale 2^-exponent (c_l -+ i c_{l-L}) for 0 <= l < L.
template <class T>
struct FoldProblem {
  using R = gpu::real_of_t<T>;
  const T* lags;
  const int* exponents;
  Complex<R>* a;
  R scale;
  index_t batch, rows, cols, length;
};

template <class T>
__global__ void __launch_bounds__(threads) fold_lags(const __grid_constant__ FoldProblem<T> m) {
  using R = gpu::real_of_t<T>;
  const index_t per_batch = sheet_count<T> * m.length, diagonals = m.rows + m.cols - 1;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < m.batch * per_batch;
       at += index_t{gridDim.x} * threads) {
    const index_t b = at / per_batch, rest = at - b * per_batch;
    const index_t sheet = rest / m.length, l = rest - sheet * m.length;
    const T* const lags = m.lags + b * diagonals + m.cols - 1;
    // Each is in range after the first factor; the product may not be before it.
    const R unit = scalbn(R(1), -m.exponents[b]);
    const T low = l < m.rows ? lags[l] * unit * m.scale : T(0);
    const T high = m.length - l < m.cols ? lags[l - m.length] * unit * m.scale : T(0);
    const R sign = sign_of<R>(static_cast<int>(sheet));
    if constexpr (gpu::is_complex<T>)
      m.a[at] = {low.re + sign * high.im, low.im - sign * high.re};
    else
      m.a[at] = {low, -sign * high};
  }
}

}  // namespace
}  // namespace device

namespace {

constexpr auto make_operation = "toeplitz::plan";

/// Sums for fewer rows or columns. Measured on one H200.
constexpr index_t direct_up_to = 64;

template <class T>
std::vector<T> downloaded(const Array<T, 1, space::cuda>& a) {
  const auto host = to_host(a);
  return {host.begin(), host.end()};
}

}  // namespace

template <Scalar T>
DevicePlanState<T>::DevicePlanState(const exec::cuda& e, const DeviceMatrix<T>& m,
                                    const PlanOptions& options)
    : rows(m.rows), cols(m.cols), hankel(m.hankel) {
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;
  if (options.accuracy == Accuracy::componentwise && options.method == Method::fourier) {
    throw DomainError(
        "toeplitz::plan: componentwise accuracy is asked for and transforms, which do not have it");
  }
  const int processors = gpu::multiprocessors(make_operation);
  const cudaStream_t stream = gpu::stream_of(e);
  const auto grid = [&](index_t work) {
    return gpu::Grid{gpu::persistent_blocks(work, device::threads, processors), device::threads};
  };
  const index_t batch = m.batch(), count = structmat::detail::diagonals(rows, cols);
  lags = Array<T, 2, space::cuda>({batch, count}, uninitialized);
  if (lags.empty()) return;
  const device::CopyProblem<D> copy{m.lags(false), gpu::device_pointer(lags.data()), batch, count};
  gpu::launch(make_operation, device::copy_lags<D>, grid(batch * count), stream, copy);

  const bool direct = options.accuracy == Accuracy::componentwise ||
                      options.method == Method::direct ||
                      (options.method == Method::automatic && std::min(rows, cols) <= direct_up_to);
  gpu::check(cudaStreamSynchronize(stream), make_operation);
  if (direct) return;

  Array<R, 1, space::cuda> largest({batch}, uninitialized);
  Array<int, 1, space::cuda> finite({batch}, uninitialized);
  const device::InspectProblem<D> inspect{gpu::device_pointer(lags.data()), largest.data(),
                                          finite.data(), batch, count};
  gpu::launch(make_operation, device::inspect<D>,
              gpu::Grid{gpu::persistent_blocks(batch, 1, processors), device::threads}, stream,
              inspect);
  gpu::check(cudaStreamSynchronize(stream), make_operation);
  for (const int all : downloaded(finite)) {
    if (!all) return;
  }
  std::vector<int> scales;
  for (const R size : downloaded(largest)) {
    const Bits<R> bits = modulus_bits(size);
    constexpr int limit = std::numeric_limits<R>::max_exponent / 4;
    const int exponent = scale_exponent<R>(bits);
    scales.push_back(std::abs(exponent) > limit ? exponent : 0);
  }
  exponents = uploaded(scales);

  twisted.emplace(make_operation, std::max(rows, cols));
  const index_t numbers = twisted->column_numbers();
  symbol = Array<C, 1, space::cuda>({batch * numbers}, uninitialized);
  const R scale = R(1) / static_cast<R>(twisted->length() * Twisted<T>::sheets);
  const device::FoldProblem<D> fold{gpu::device_pointer(lags.data()),
                                    exponents.data(),
                                    symbol.data(),
                                    scale,
                                    batch,
                                    rows,
                                    cols,
                                    twisted->length()};
  gpu::launch(make_operation, device::fold_lags<D>, grid(batch * numbers), stream, fold);
  const Array<std::byte, 1, space::cuda> work({twisted->library_bytes()}, uninitialized);
  twisted->transform_symbol(make_operation, stream, batch, symbol.data(),
                            const_cast<std::byte*>(work.data()));
  gpu::check(cudaStreamSynchronize(stream), make_operation);
}

namespace {

/// The arrays of apply's workspace.
template <class C>
struct Spectra {
  C* z;
  void* library;
};

template <Scalar T>
auto spectra_layout(const DevicePlanState<T>& plan, index_t columns) {
  return [&plan, columns](gpu::Workspace& w) {
    using C = gpu::Complex<real_t<T>>;
    Spectra<C> s{};
    if (!plan.twisted) return s;
    s.z = w.take<C>(plan.twisted->columns_at_once(columns) * plan.twisted->column_numbers());
    s.library = w.take<std::byte>(columns == 0 ? 0 : plan.twisted->library_bytes());
    return s;
  };
}

}  // namespace

template <Scalar T>
index_t apply_plan_bytes(const char* operation, const DevicePlanState<T>& plan, index_t k,
                         index_t batch) {
  if (k < 0 || batch < 0) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " columns, batch " +
                     std::to_string(batch));
  }
  return gpu::counted(operation, spectra_layout(plan, max(plan.batch(), batch) * k));
}

template <Scalar T>
void apply_plan(const char* operation, const exec::cuda& e, const DevicePlanState<T>& plan,
                device::Action action, View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y,
                bool add, index_t first) {
  using D = gpu::device_scalar_t<T>;
  if (y.empty()) return;
  const index_t batch = y.extent(0), k = y.extent(2);
  const bool shared = plan.batch() == 1;
  const index_t own = shared ? 0 : first;
  if (!plan.twisted) {
    DeviceMatrix<T> m = plan.matrix();
    m.numbers = m.numbers.slice(0, own, shared ? 1 : own + batch);
    return apply_direct<T>(operation, e, m, action, x, y, add);
  }
  const auto& twisted = *plan.twisted;
  // What the plan's own batch needs is enough; more is done at once where there is memory.
  index_t at_hand = batch * k;
  if (gpu::counted(operation, spectra_layout(plan, at_hand)) > e.workspace.size())
    at_hand = std::min(at_hand, plan.batch() * k);
  const auto spectra = gpu::cut(operation, e.workspace, spectra_layout(plan, at_hand));
  const device::Input<D> in{gpu::strided(x), x.extent(1), action.conjugated};
  const device::Output<D> out{
      gpu::strided(y), y.extent(1), action.conjugated, add, plan.exponents.data() + own,
      shared ? 0 : 1};
  twisted.apply(operation, gpu::stream_of(e), plan.symbol.data() + own * twisted.column_numbers(),
                shared ? 0 : twisted.column_numbers(), action.adjoint, in, out, batch * k, k,
                spectra.z, twisted.columns_at_once(at_hand), spectra.library);
}

}  // namespace toeplitz

namespace {

template <Scalar T>
std::shared_ptr<const toeplitz::DevicePlanState<T>> made(const exec::cuda& e,
                                                         const toeplitz::DeviceMatrix<T>& m,
                                                         const toeplitz::PlanOptions& options) {
  return std::make_shared<const toeplitz::DevicePlanState<T>>(e, m, options);
}

}  // namespace

template <Scalar T>
ToeplitzPlan<T, space::cuda>::ToeplitzPlan(const exec::cuda& e,
                                           const ToeplitzView<T, space::cuda>& m,
                                           const toeplitz::PlanOptions& options)
    : state_(made<T>(e, toeplitz::device_matrix(m, toeplitz::make_operation), options)) {}
template <Scalar T>
ToeplitzPlan<T, space::cuda>::ToeplitzPlan(const exec::cuda& e, const HankelView<T, space::cuda>& m,
                                           const toeplitz::PlanOptions& options)
    : state_(made<T>(e, toeplitz::device_matrix(m, toeplitz::make_operation), options)) {}
template <Scalar T>
ToeplitzPlan<T, space::cuda>::ToeplitzPlan(const exec::cuda& e,
                                           const CirculantView<T, space::cuda>& m,
                                           const toeplitz::PlanOptions& options)
    : state_(made<T>(e, toeplitz::device_matrix(m, toeplitz::make_operation), options)) {}
template <Scalar T>
ToeplitzPlan<T, space::cuda>::ToeplitzPlan(const exec::cuda& e,
                                           const SkewCirculantView<T, space::cuda>& m,
                                           const toeplitz::PlanOptions& options)
    : state_(made<T>(e, toeplitz::device_matrix(m, toeplitz::make_operation), options)) {}

template <Scalar T>
index_t ToeplitzPlan<T, space::cuda>::batch() const {
  return state_->batch();
}
template <Scalar T>
index_t ToeplitzPlan<T, space::cuda>::rows() const {
  return state_->rows;
}
template <Scalar T>
index_t ToeplitzPlan<T, space::cuda>::cols() const {
  return state_->cols;
}
template <Scalar T>
toeplitz::Method ToeplitzPlan<T, space::cuda>::method() const {
  return state_->twisted ? toeplitz::Method::fourier : toeplitz::Method::direct;
}
template <Scalar T>
index_t ToeplitzPlan<T, space::cuda>::block_length() const {
  return state_->twisted ? state_->twisted->length() : 0;
}
template <Scalar T>
bool ToeplitzPlan<T, space::cuda>::is_hankel() const {
  return state_->hankel;
}
template <Scalar T>
ToeplitzView<T, space::cuda> ToeplitzPlan<T, space::cuda>::lags() const {
  return {state_->lags.view(), state_->rows, state_->cols};
}

template <Scalar T>
index_t apply_workspace_bytes(const ToeplitzPlan<T, space::cuda>& plan, index_t k, index_t batch) {
  return toeplitz::apply_plan_bytes("toeplitz::apply_workspace_bytes", plan.state(), k, batch);
}

template <Scalar T>
void apply(const exec::cuda& e, const ToeplitzPlan<T, space::cuda>& plan, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  constexpr auto operation = "toeplitz::apply";
  const bool direct = op == Op::none;
  const index_t m = plan.rows(), n = plan.cols();
  const index_t batch =
      detail::check_operands(operation, plan.batch(), direct ? m : n, direct ? n : m, x, y);
  gpu::require_writable(operation, y, "y");
  gpu::require_apart(operation, e.workspace, x, "x");
  gpu::require_apart(operation, e.workspace, y, "y");
  x = x.broadcast(0, batch);
  if (plan.is_hankel()) {
    // H = T J, H^T = J T^T.
    if (direct)
      x = x.reversed(1);
    else
      y = y.reversed(1);
  }
  toeplitz::apply_plan<T>(operation, e, plan.state(), toeplitz::action_of(op), x, y, false);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template struct toeplitz::DevicePlanState<T>;                                                    \
  template void toeplitz::apply_plan(const char*, const exec::cuda&,                               \
                                     const toeplitz::DevicePlanState<T>&,                          \
                                     toeplitz::device::Action, View<const T, 3, space::cuda>,      \
                                     View<T, 3, space::cuda>, bool, index_t);                      \
  template index_t toeplitz::apply_plan_bytes(const char*, const toeplitz::DevicePlanState<T>&,    \
                                              index_t, index_t);                                   \
  template class ToeplitzPlan<T, space::cuda>;                                                     \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const ToeplitzPlan<T, space::cuda>&,     \
                                                          index_t, index_t);                       \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const ToeplitzPlan<T, space::cuda>&, Op, \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
