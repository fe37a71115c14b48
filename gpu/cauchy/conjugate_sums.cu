// Sums over poles in conjugate pairs on the device, and their gradients.
//
// With a = Re (z - w), p = Im z - Im w, q = Im z + Im w, y = Im z:
//   (z - w) (z - conj w) = D = (a^2 - p q) + 2 i a y,
//   v / (z - w) + conj(v) / (z - conj w) = 2 (N_r + i Re(v) y) conj(D) / |D|^2,
//   N_r = Re(v) a - Im(v) Im(w),
// where every term is bounded by |D| or |N|: nothing cancels that does not cancel in the sum itself. What
// the nodes of a row alone decide, 2 y^2 and the factor y of the imaginary part, is left out of the sum.
#include "structmat/cauchy/conjugate_sums.hpp"

#include "cauchy/conjugate_operands.hpp"
#include "cauchy/reciprocal.cuh"
#include "cauchy/tiled_sums.cuh"
#include "core/vjp_operands.hpp"

namespace structmat::cauchy {
namespace {

using namespace device;
using gpu::Complex;

template <class R>
struct Operands {
  gpu::Strided<const Complex<R>, 2> v, w, z, out_bar;
};

/// Half of a sum and of its imaginary part over 2 y.
///
/// On the imaginary axis a = -Re w belongs to the pole. With e = -(a^2 + p q) = Re D - 2 a^2 and y^2 by e,
///   |D|^2 = e^2 + (2 Re w Im w)^2,
///   Re(N conj(D)) = Re(v w) e - 2 Re w Im w Im(v w),   Im(N conj(D)) / y = Re(v) e - 2 Re w Im w Im v,
/// whose terms are bounded as above, and where y appears in p and q alone.
template <class R>
struct PairTerm {
  using Scalar = Complex<R>;
  static constexpr int outputs = 1, step = 1, rows = sizeof(R) == 4 ? 8 : 2;

  struct Row {
    R re, im;
  };
  struct alignas(16) Source {
    // What add_simply reads stands together.
    R w_im, minus_square, across, slope, offset, half_v_re, side_offset;
    R w_re, v_re, numerator, v_im;
    __device__ void clear() {
      slope = offset = half_v_re = side_offset = v_re = numerator = v_im = 0;
    }
  };

  Shape shape;
  Operands<R> all;

  __host__ __device__ int passes() const { return 1; }
  __device__ Row row(index_t b, index_t l, int) const {
    const Complex<R> z = all.z(b, l);
    return {z.re, z.im};
  }
  __device__ Source source(index_t b, index_t n, index_t, int) const {
    const Complex<R> w = all.w(b, n), v = all.v(b, n), vw = v * w;
    const R area = w.re * w.im;
    return {w.im, -(w.re * w.re), 4 * area * area, vw.re, -2 * area * vw.im, v.re / 2, -area * v.im,
            w.re, v.re,           -v.im * w.im,    v.im};
  }
  __device__ bool bears(const Row& row) const {
    return at_most(Complex<R>(row.re, row.im), most_fourth<R>);
  }
  __device__ bool bears(const Source& source) const {
    return at_most(Complex<R>(source.w_re, source.w_im), most_fourth<R>);
  }

  __device__ void add(const Row& row, const Source* source, Scalar (&sum)[1]) const {
    const R twice = 2 * row.im * row.im;
    const R a = row.re - source->w_re, p = row.im - source->w_im, q = row.im + source->w_im;
    const R square = a * a, d = fma(-p, q, square);
    const R r = fast_reciprocal(fma(square, 2 * twice, d * d));
    const R t = source->v_re * a, numerator = t + source->numerator;
    sum[0].re = fma(fma(numerator, d, t * twice), r, sum[0].re);
    sum[0].im = fma(fma(source->half_v_re, d, -(a * numerator)), r, sum[0].im);
  }
  __device__ bool is_simple(const Row& row) const { return row.re == 0; }
  __device__ void add_simply(const Row& row, const Source& source, Scalar (&sum)[1]) const {
    const R p = row.im - source.w_im, q = row.im + source.w_im, e = fma(-p, q, source.minus_square);
    const R r = fast_reciprocal(fma(e, e, source.across));
    sum[0].re = fma(fma(source.slope, e, source.offset), r, sum[0].re);
    sum[0].im = fma(fma(source.half_v_re, e, source.side_offset), r, sum[0].im);
  }
  __device__ void complete(const Row& row, Scalar (&sum)[1]) const {
    sum[0] = {2 * sum[0].re, 4 * row.im * sum[0].im};
  }
  __device__ void add_exactly(const Row& row, const Source& source, Scalar (&sum)[1]) const {
    const Complex<R> z(row.re, row.im), w(source.w_re, source.w_im), v(source.v_re, source.v_im);
    sum[0] += v * exact_reciprocal(z - w, false);
    sum[0] += gpu::conjugate(v) * exact_reciprocal(z - gpu::conjugate(w), false);
  }
};

/// A = 1 / (z - w) and B = 1 / (z - conj w), by one real reciprocal.
template <class R>
struct Reciprocals {
  Complex<R> a, b;

  static __device__ Reciprocals fast(Complex<R> z, Complex<R> w) {
    const R re = z.re - w.re, p = z.im - w.im, q = z.im + w.im;
    const R square = re * re, of_a = fma(p, p, square), of_b = fma(q, q, square);
    const R r = fast_reciprocal(of_a * of_b), ra = r * of_b, rb = r * of_a;
    return {{re * ra, -p * ra}, {re * rb, -q * rb}};
  }
  static __device__ Reciprocals exact(Complex<R> z, Complex<R> w) {
    return {exact_reciprocal(z - w, false), exact_reciprocal(z - gpu::conjugate(w), false)};
  }
};

template <class R>
__device__ Complex<R> squared(Complex<R> a) {
  return {fma(a.re, a.re, -(a.im * a.im)), 2 * a.re * a.im};
}

/// Rows are poles: sum_l out_bar conj(A) + conj(out_bar) B, and the same with squares.
template <class R>
struct PoleTerm {
  using Scalar = Complex<R>;
  static constexpr int outputs = 2, step = 1, rows = 2;

  struct Row {
    Complex<R> w;
  };
  struct alignas(16) Source {
    Complex<R> z, out_bar;
    __device__ void clear() { out_bar = 0; }
  };

  Shape shape;
  Operands<R> all;

  __host__ __device__ int passes() const { return 1; }
  __device__ Row row(index_t b, index_t n, int) const { return {all.w(b, n)}; }
  __device__ Source source(index_t b, index_t l, index_t, int) const {
    return {all.z(b, l), all.out_bar(b, l)};
  }
  __device__ bool bears(const Row& row) const { return at_most(row.w, most_fourth<R>); }
  __device__ bool bears(const Source& source) const { return at_most(source.z, most_fourth<R>); }

  static __device__ void accumulate(Complex<R> out_bar, Complex<R> a, Complex<R> b, Scalar& sum) {
    sum.re = fma(out_bar.re, a.re + b.re, fma(out_bar.im, a.im + b.im, sum.re));
    sum.im = fma(out_bar.re, b.im - a.im, fma(out_bar.im, a.re - b.re, sum.im));
  }
  static __device__ void add(const Reciprocals<R>& r, const Source& source, Scalar (&sum)[2]) {
    accumulate(source.out_bar, r.a, r.b, sum[0]);
    accumulate(source.out_bar, squared(r.a), squared(r.b), sum[1]);
  }
  __device__ void add(const Row& row, const Source* source, Scalar (&sum)[2]) const {
    add(Reciprocals<R>::fast(source->z, row.w), *source, sum);
  }
  __device__ void complete(const Row&, Scalar (&)[2]) const {}
  __device__ void add_exactly(const Row& row, const Source& source, Scalar (&sum)[2]) const {
    add(Reciprocals<R>::exact(source.z, row.w), source, sum);
  }
};

/// Rows are nodes: sum_n v A^2 + conj(v) B^2.
template <class R>
struct NodeTerm {
  using Scalar = Complex<R>;
  static constexpr int outputs = 1, step = 1, rows = 2;

  struct Row {
    Complex<R> z;
  };
  struct alignas(16) Source {
    Complex<R> w, v;
    __device__ void clear() { v = 0; }
  };

  Shape shape;
  Operands<R> all;

  __host__ __device__ int passes() const { return 1; }
  __device__ Row row(index_t b, index_t l, int) const { return {all.z(b, l)}; }
  __device__ Source source(index_t b, index_t n, index_t, int) const {
    return {all.w(b, n), all.v(b, n)};
  }
  __device__ bool bears(const Row& row) const { return at_most(row.z, most_fourth<R>); }
  __device__ bool bears(const Source& source) const { return at_most(source.w, most_fourth<R>); }

  static __device__ void add(const Reciprocals<R>& r, Complex<R> v, Scalar& sum) {
    sum = gpu::multiply_add(v, squared(r.a), sum);
    sum = gpu::multiply_add(gpu::conjugate(v), squared(r.b), sum);
  }
  __device__ void add(const Row& row, const Source* source, Scalar (&sum)[1]) const {
    add(Reciprocals<R>::fast(row.z, source->w), source->v, sum[0]);
  }
  __device__ void complete(const Row&, Scalar (&)[1]) const {}
  __device__ void add_exactly(const Row& row, const Source& source, Scalar (&sum)[1]) const {
    add(Reciprocals<R>::exact(row.z, source.w), source.v, sum[0]);
  }
};

/// v_bar, or w_bar = conj(v) times sums of squares.
template <class R>
struct PoleFinish {
  gpu::Strided<const Complex<R>, 2> v;
  bool squares;
  __device__ Complex<R> operator()(const Partial<Complex<R>>& sums, index_t b, index_t n,
                                   index_t) const {
    const Complex<R> sum = sums(b, n, squares ? 1 : 0);
    return squares ? gpu::conjugate(v(b, n)) * sum : sum;
  }
};
template <class R>
struct NodeFinish {
  gpu::Strided<const Complex<R>, 2> out_bar;
  __device__ Complex<R> operator()(const Partial<Complex<R>>& sums, index_t b, index_t l,
                                   index_t) const {
    return -(out_bar(b, l) * gpu::conjugate(sums(b, l, 0)));
  }
};

template <class T>
using real_part_of = gpu::real_of_t<gpu::device_scalar_t<T>>;

/// (batch, n) as (batch, n, 1).
template <class T>
gpu::Strided<gpu::device_scalar_t<T>, 3> column(const View<T, 2, space::cuda>& view) {
  const auto s = gpu::strided(view);
  return {s.data, {s.stride[0], s.stride[1], 0}};
}

template <class D>
struct GradientSums {
  D *poles, *nodes;
};
template <class D>
auto gradient_layout(const char* operation, index_t batch, index_t poles, index_t nodes) {
  return [=](gpu::Workspace& w) {
    using R = gpu::real_of_t<D>;
    D* const of_poles = w.take<D>(partial_count<PoleTerm<R>>(operation, {batch, poles, nodes, 2}));
    return GradientSums<D>{
        of_poles, w.take<D>(partial_count<NodeTerm<R>>(operation, {batch, nodes, poles, 1}))};
  };
}

void require_counts(const char* operation, index_t batch, index_t poles, index_t nodes) {
  if (batch >= 0 && poles >= 0 && nodes >= 0) return;
  throw ShapeError(std::string(operation) + ": batch " + std::to_string(batch) + ", " +
                   std::to_string(poles) + " poles, " + std::to_string(nodes) + " nodes");
}

}  // namespace

template <ComplexScalar T>
index_t conjugate_sums_workspace_bytes(index_t batch, index_t poles, index_t nodes) {
  constexpr auto operation = "cauchy::conjugate_sums";
  require_counts(operation, batch, poles, nodes);
  using D = gpu::device_scalar_t<T>;
  const index_t count =
      direct_count<PairTerm<gpu::real_of_t<D>>>(operation, {batch, nodes, poles, 1});
  return gpu::counted(operation, [&](gpu::Workspace& w) { return w.take<D>(count); });
}

template <ComplexScalar T>
void conjugate_sums(const exec::cuda& e, View<const T, 2, space::cuda> v,
                    View<const T, 2, space::cuda> w, View<const T, 2, space::cuda> z,
                    View<T, 2, space::cuda> out) {
  constexpr auto operation = "cauchy::conjugate_sums";
  using D = gpu::device_scalar_t<T>;
  using R = gpu::real_of_t<D>;
  const ConjugateOperands<T, space::cuda> all(operation, v, w, z, "out", out);
  all.require_apart(operation, "out", out);
  gpu::require_writable(operation, out, "out");
  PairTerm<R> term{{all.batch, all.nodes, all.poles, 1},
                   {gpu::strided(all.v), gpu::strided(all.w), gpu::strided(all.z), {}}};
  const index_t count = out.empty() ? 0 : direct_count<PairTerm<R>>(operation, term.shape);
  D* const partial =
      gpu::cut(operation, e.workspace, [&](gpu::Workspace& space) { return space.take<D>(count); });
  const int processors = gpu::multiprocessors(operation);
  if (out.empty()) return;
  enqueue(operation, term, partial, Target<D>{column(out)}, processors, gpu::stream_of(e));
}

template <ComplexScalar T>
index_t conjugate_sums_vjp_workspace_bytes(index_t batch, index_t poles, index_t nodes) {
  constexpr auto operation = "cauchy::conjugate_sums_vjp";
  require_counts(operation, batch, poles, nodes);
  return gpu::counted(operation,
                      gradient_layout<gpu::device_scalar_t<T>>(operation, batch, poles, nodes));
}

template <ComplexScalar T>
void conjugate_sums_vjp(const exec::cuda& e, View<const T, 2, space::cuda> v,
                        View<const T, 2, space::cuda> w, View<const T, 2, space::cuda> z,
                        View<const T, 2, space::cuda> out_bar,
                        const ConjugateSumsCotangent<T, space::cuda>& bar) {
  constexpr auto operation = "cauchy::conjugate_sums_vjp";
  using D = gpu::device_scalar_t<T>;
  using R = gpu::real_of_t<D>;
  const ConjugateOperands<T, space::cuda> all(operation, v, w, z, "out_bar", out_bar);
  const auto v_bar = detail::checked_cotangent(operation, "v", bar.v, all.batch, {all.poles});
  const auto w_bar = detail::checked_cotangent(operation, "w", bar.w, all.batch, {all.poles});
  const auto z_bar = detail::checked_cotangent(operation, "z", bar.z, all.batch, {all.nodes});
  const auto partial = gpu::cut(operation, e.workspace,
                                gradient_layout<D>(operation, all.batch, all.poles, all.nodes));
  const int processors = gpu::multiprocessors(operation);
  if (all.batch == 0 || all.poles == 0 || all.nodes == 0) return;
  const cudaStream_t stream = gpu::stream_of(e);
  const Operands<R> operands{gpu::strided(all.v), gpu::strided(all.w), gpu::strided(all.z),
                             gpu::strided(out_bar)};
  if (v_bar.data() || w_bar.data()) {
    const auto sums =
        enqueue_sums(operation, PoleTerm<R>{{all.batch, all.poles, all.nodes, 2}, operands},
                     partial.poles, Target<D>{}, processors, stream);
    for (const auto* target : {&v_bar, &w_bar}) {
      if (!target->data()) continue;
      enqueue_finish(operation, sums, PoleFinish<R>{operands.v, target == &w_bar}, column(*target),
                     1, true, processors, stream);
    }
  }
  if (z_bar.data()) {
    const auto sums =
        enqueue_sums(operation, NodeTerm<R>{{all.batch, all.nodes, all.poles, 1}, operands},
                     partial.nodes, Target<D>{}, processors, stream);
    enqueue_finish(operation, sums, NodeFinish<R>{operands.out_bar}, column(z_bar), 1, true,
                   processors, stream);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t conjugate_sums_workspace_bytes<T>(index_t, index_t, index_t); \
  template STRUCTMAT_EXPORT index_t conjugate_sums_vjp_workspace_bytes<T>(index_t, index_t,       \
                                                                          index_t);               \
  template STRUCTMAT_EXPORT void conjugate_sums(                                                  \
      const exec::cuda&, View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,            \
      View<const T, 2, space::cuda>, View<T, 2, space::cuda>);                                    \
  template STRUCTMAT_EXPORT void conjugate_sums_vjp(                                              \
      const exec::cuda&, View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,            \
      View<const T, 2, space::cuda>, View<const T, 2, space::cuda>,                               \
      const ConjugateSumsCotangent<T, space::cuda>&);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::cauchy
