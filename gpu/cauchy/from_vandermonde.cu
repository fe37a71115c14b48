// Vandermonde matrices as Cauchy-like ones on the device: nodes, roots and two generators, each by a formula
// for its elements.
#include "structmat/cauchy/from_vandermonde.hpp"

#include "cauchy/root_gap.hpp"
#include "core/instantiate.hpp"
#include "core/strided.cuh"
#include "core/workspace.cuh"
#include "vandermonde/geometric.cuh"

namespace structmat::cauchy {
namespace {

constexpr char operation[] = "cauchy::from_vandermonde";
constexpr unsigned threads = 256;

template <class T, class C>
struct Conversion {
  gpu::Strided<const T, 2> x;
  C *s, *t, *g, *h;
  index_t batch, m, n;
  gpu::Complex<double> corner;
  double radius, turns;  // root k: radius exp(2 pi i (turns + k / n))
};

template <class T, class C>
__global__ void __launch_bounds__(threads) convert(const __grid_constant__ Conversion<T, C> p) {
  using W = gpu::Complex<double>;
  const index_t each = p.m + p.n;
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < p.batch * each;
       unit += index_t{gridDim.x} * blockDim.x) {
    const index_t b = unit / each, i = unit % each;
    if (i < p.m) {
      const T x = p.x(b, i);
      W node;
      if constexpr (gpu::is_complex<T>)
        node = gpu::widened(x);
      else
        node = W(double(x));
      p.s[b * p.m + i] = gpu::narrowed<C>(node);
      p.g[b * p.m + i] = gpu::narrowed<C>(gpu::power(node, p.n) - p.corner);
    } else {
      const index_t k = i - p.m;
      double sine, cosine;
      sincospi(2 * (double(k) / double(p.n) + p.turns), &sine, &cosine);
      const W root(p.radius * cosine, p.radius * sine);
      p.t[b * p.n + k] = gpu::narrowed<C>(root);
      p.h[b * p.n + k] = gpu::narrowed<C>(root * gpu::reciprocal(sqrt(double(p.n)) * p.corner));
    }
  }
}

}  // namespace

template <Scalar T>
CauchyLike<std::complex<real_t<T>>, space::cuda> from_vandermonde(
    const exec::cuda& e, const VandermondeView<T, space::cuda>& v,
    std::type_identity_t<std::complex<real_t<T>>> corner) {
  using C = std::complex<real_t<T>>;
  using W = std::complex<double>;
  using D = gpu::device_scalar_t<C>;
  const auto view = vandermonde::checked(v, operation);
  const index_t m = view.rows(), n = view.cols(), batch = view.batch();
  if (corner == C{}) {
    throw DomainError(std::string(operation) + ": the corner is 0, which has no distinct roots");
  }
  const int processors = gpu::multiprocessors(operation);
  CauchyLike<C, space::cuda> c(m, n, 1, batch);
  if (n == 0 || batch * (m + n) == 0) return c;
  const W wide(corner);
  const Conversion<gpu::device_scalar_t<T>, D> problem{gpu::strided(view.x),
                                                       gpu::device_pointer(c.s.data()),
                                                       gpu::device_pointer(c.t.data()),
                                                       gpu::device_pointer(c.g.data()),
                                                       gpu::device_pointer(c.h.data()),
                                                       batch,
                                                       m,
                                                       n,
                                                       {wide.real(), wide.imag()},
                                                       std::pow(std::abs(wide), 1 / double(n)),
                                                       std::arg(wide) / gpu::two_pi / double(n)};
  gpu::launch(operation, convert<gpu::device_scalar_t<T>, D>,
              gpu::persistent_blocks(batch * (m + n), threads, processors), threads,
              gpu::stream_of(e), problem);
  // The gaps say whether the rows exist.
  Array<C, 3> gaps({batch, m, 1}, uninitialized);
  gpu::check(cudaMemcpyAsync(gaps.data(), c.g.data(), gaps.size() * sizeof(C),
                             cudaMemcpyDeviceToHost, gpu::stream_of(e)),
             operation);
  gpu::check(cudaStreamSynchronize(gpu::stream_of(e)), operation);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < m; ++i) require_distinct(operation, gaps(b, i, 0), corner, n, i, b);
  }
  return c;
}

template <Scalar T>
using ComplexCauchyLike = CauchyLike<std::complex<real_t<T>>, space::cuda>;

#define STRUCTMAT_INSTANTIATE(T)                                      \
  template STRUCTMAT_EXPORT ComplexCauchyLike<T> from_vandermonde<T>( \
      const exec::cuda&, const VandermondeView<T, space::cuda>&, std::complex<real_t<T>>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
