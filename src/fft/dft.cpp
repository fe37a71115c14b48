#include "structmat/fft/dft.hpp"

#include <cmath>
#include <numbers>

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "core/vjp_operands.hpp"
#include "core/write_entries.hpp"

namespace structmat {
namespace {

/// sigma of a transform of n points.
double factor(Scaling scaling, index_t n) {
  return scaling == Scaling::none ? 1 : 1 / std::sqrt(double(n));
}

/// -2 pi (j k mod n) / n
double phase(index_t j, index_t k, index_t n) {
  const auto turns =
      static_cast<index_t>(static_cast<unsigned __int128>(j) * static_cast<unsigned __int128>(k) %
                           static_cast<unsigned __int128>(n));
  return -2 * std::numbers::pi * double(turns) / double(n);
}

template <Scalar T>
T entry_of(const Dft<T>& m, index_t i, index_t j) {
  return T(std::polar(factor(m.scaling(), m.rows()), phase(i, j, m.rows())));
}
template <Scalar T>
T entry_of(const CosineDft<T>& m, index_t i, index_t j) {
  return T(real_t<T>(factor(m.scaling(), m.rows()) * std::cos(phase(i, j, m.rows()))));
}
template <Scalar T>
T entry_of(const RealDft2d<T>& m, index_t i, index_t j) {
  const index_t d = m.width();
  const double angle = phase(i / d, j / d, m.length()) + phase(i % d, j % d, d);
  return T(factor(m.scaling(), m.rows()) * std::cos(angle));
}

/// y := op(F) x of one column, through contiguous memory.
template <Scalar T>
void transform(const Dft<T>& m, Op op, const View<const T, 1>& x, const View<T, 1>& y) {
  const index_t n = m.rows();
  Array<T, 2> in({1, n}, uninitialized), out({1, n}, uninitialized);
  copy(x, in.view().select(0, 0));
  if (op == Op::adjoint) {
    m.plan().backward(std::as_const(in).view(), out.view());
  } else {
    m.plan().forward(std::as_const(in).view(), out.view());
  }
  const auto sigma = real_t<T>(factor(m.scaling(), n));
  for (index_t i = 0; i < n; ++i) y(i) = sigma * out(0, i);
}

/// to(i, y_i) for y := C x, both real.
template <RealScalar R, class To>
void cosine_transform(const fft::Plan<R>& plan, const Array<R, 2>& x, R sigma, const To& to) {
  const index_t n = plan.length();
  Array<std::complex<R>, 2> spectrum({1, plan.spectrum_length()}, uninitialized);
  plan.forward(x.view(), spectrum.view());
  for (index_t i = 0; i < n; ++i) to(i, sigma * spectrum(0, std::min(i, n - i)).real());
}

template <Scalar T>
void transform(const CosineDft<T>& m, Op, const View<const T, 1>& x, const View<T, 1>& y) {
  using R = real_t<T>;
  const index_t n = m.rows();
  const R sigma = R(factor(m.scaling(), n));
  Array<R, 2> part({1, n}, uninitialized);
  for (index_t i = 0; i < n; ++i) part(0, i) = std::real(x(i));
  cosine_transform(m.plan(), part, sigma, [&](index_t i, R v) { y(i) = T(v); });
  if constexpr (is_complex_v<T>) {
    for (index_t i = 0; i < n; ++i) part(0, i) = x(i).imag();
    cosine_transform(m.plan(), part, sigma, [&](index_t i, R v) { y(i) += T(0, v); });
  }
}

/// Y := Re(F_L X F_D). Columns d and D - d of X F_D are conjugates, so that
/// Y_{j, D-d} = Y_{L-j, d}.
template <Scalar T>
void transform_2d(const RealDft2d<T>& m, const View<const T, 2>& x, const View<T, 2>& y) {
  const index_t rows = m.length(), columns = m.width(), half = m.across().spectrum_length();
  const Array<T, 2> in = to_array(x);
  Array<std::complex<T>, 2> across({rows, half}, uninitialized);
  m.across().forward(in.view(), across.view());
  const Array<std::complex<T>, 2> turned = to_array(across.view().transposed());
  Array<std::complex<T>, 2> along({half, rows}, uninitialized);
  m.along().forward(turned.view(), along.view());
  const T sigma = T(factor(m.scaling(), rows * columns));
  for (index_t j = 0; j < rows; ++j) {
    for (index_t d = 0; d < columns; ++d) {
      const bool kept = d < half;
      const index_t row = kept || j == 0 ? j : rows - j;
      y(j, d) = sigma * along(kept ? d : columns - d, row).real();
    }
  }
}

template <Scalar T>
void transform(const RealDft2d<T>& m, Op, const View<const T, 1>& x, const View<T, 1>& y) {
  const index_t rows = m.length(), columns = m.width();
  const auto array = [&](auto v) {
    using V = typename decltype(v)::element_type;
    return View<V, 2>(v.data(), {rows, columns}, {columns * v.stride(0), v.stride(0)});
  };
  transform_2d<T>(m, array(x), array(y));
}

template <class M, Scalar T>
void apply_columns(const exec::cpu& e, const char* operation, const M& m, Op op,
                   const View<const T, 3>& x, const View<T, 3>& y) {
  const index_t n = m.rows(), k = x.extent(2);
  const index_t batch = detail::check_operands(operation, 1, n, n, x, y);
  if (n == 0) return;
  parallel_for(team_for(e.threads, 10 * batch * k * n), batch * k, [&](index_t task) {
    const index_t b = task / k, c = task % k;
    transform(m, op, x.select(0, b).select(1, c), y.select(0, b).select(1, c));
  });
}

/// All three are symmetric: (M^T)^H = M^H.
template <class M, Scalar T>
void add_adjoint(const exec::cpu& e, const char* operation, const M& m, Op op,
                 const View<const T, 3>& y_bar, View<T, 3> x_bar) {
  const index_t batch =
      detail::check_vjp_operands(operation, 1, m.rows(), m.rows(), y_bar, y_bar, x_bar);
  if (!x_bar.data()) return;
  Array<T, 3> sum(y_bar.extents(), uninitialized);
  apply_columns(e, operation, m, op == Op::adjoint ? Op::none : Op::adjoint, y_bar, sum.view());
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < sum.extent(1); ++i) {
      for (index_t c = 0; c < sum.extent(2); ++c) x_bar(b, i, c) += sum(b, i, c);
    }
  }
}

template <class M>
auto checked_entry(const char* operation, const M& m, index_t i, index_t j, index_t batch) {
  detail::require_index(operation, {1, m.rows(), m.cols()}, {batch, i, j});
  return entry_of(m, i, j);
}

template <class M, Scalar T>
void expand(const char* operation, const M& m, const View<T, 3>& dense) {
  detail::write_entries(operation, dense, {1, m.rows(), m.cols()},
                        [&](index_t, index_t i, index_t j) { return entry_of(m, i, j); });
}

}  // namespace

template <RealScalar T>
void apply_2d(const exec::cpu& e, const RealDft2d<T>& m, View<const T, 3> x, View<T, 3> y) {
  constexpr auto operation = "real_dft_2d::apply_2d";
  const index_t batch = x.extent(0);
  for (const int d : {1, 2}) {
    const index_t expected = d == 1 ? m.length() : m.width();
    if (x.extent(d) != expected) {
      throw ShapeError(std::string(operation) + ": x has extent " + std::to_string(x.extent(d)) +
                       " in dimension " + std::to_string(d) + ", the operator has " +
                       std::to_string(expected));
    }
  }
  detail::require_extents<T, 3, space::host>(operation, y, {batch, m.length(), m.width()});
  if (overlaps(x, View<const T, 3>(y))) {
    throw DomainError(std::string(operation) + ": x and y overlap in memory");
  }
  if (m.rows() == 0) return;
  parallel_for(team_for(e.threads, 10 * batch * m.rows()), batch,
               [&](index_t b) { transform_2d<T>(m, x.select(0, b), y.select(0, b)); });
}

#define STRUCTMAT_DEFINE(M, CONCEPT, NAME)                                                 \
  template <CONCEPT T>                                                                     \
  void apply(const exec::cpu& e, const M<T>& m, Op op, View<const T, 3> x, View<T, 3> y) { \
    apply_columns(e, NAME "::apply", m, op, x, y);                                         \
  }                                                                                        \
  template <CONCEPT T>                                                                     \
  void apply_vjp(const exec::cpu& e, const M<T>& m, Op op, View<const T, 3> y_bar,         \
                 View<T, 3> x_bar) {                                                       \
    add_adjoint(e, NAME "::apply_vjp", m, op, y_bar, x_bar);                               \
  }                                                                                        \
  template <CONCEPT T>                                                                     \
  T entry(const M<T>& m, index_t i, index_t j, index_t batch) {                            \
    return checked_entry(NAME "::entry", m, i, j, batch);                                  \
  }                                                                                        \
  template <CONCEPT T>                                                                     \
  void to_dense(const M<T>& m, View<T, 3> dense) {                                         \
    expand(NAME "::to_dense", m, dense);                                                   \
  }
STRUCTMAT_DEFINE(Dft, ComplexScalar, "dft")
STRUCTMAT_DEFINE(CosineDft, Scalar, "cosine_dft")
STRUCTMAT_DEFINE(RealDft2d, RealScalar, "real_dft_2d")

#define STRUCTMAT_INSTANTIATE_OPERATOR(M, T)                                                    \
  template STRUCTMAT_EXPORT void apply(const exec::cpu&, const M<T>&, Op, View<const T, 3>,     \
                                       View<T, 3>);                                             \
  template STRUCTMAT_EXPORT void apply_vjp(const exec::cpu&, const M<T>&, Op, View<const T, 3>, \
                                           View<T, 3>);                                         \
  template STRUCTMAT_EXPORT T entry(const M<T>&, index_t, index_t, index_t);                    \
  template STRUCTMAT_EXPORT void to_dense(const M<T>&, View<T, 3>);
#define STRUCTMAT_INSTANTIATE_REAL(T)                                                              \
  STRUCTMAT_INSTANTIATE_OPERATOR(CosineDft, T)                                                     \
  STRUCTMAT_INSTANTIATE_OPERATOR(RealDft2d, T)                                                     \
  template STRUCTMAT_EXPORT void apply_2d(const exec::cpu&, const RealDft2d<T>&, View<const T, 3>, \
                                          View<T, 3>);
#define STRUCTMAT_INSTANTIATE_COMPLEX(T)       \
  STRUCTMAT_INSTANTIATE_OPERATOR(CosineDft, T) \
  STRUCTMAT_INSTANTIATE_OPERATOR(Dft, T)
STRUCTMAT_INSTANTIATE_REAL(float)
STRUCTMAT_INSTANTIATE_REAL(double)
STRUCTMAT_INSTANTIATE_COMPLEX(std::complex<float>)
STRUCTMAT_INSTANTIATE_COMPLEX(std::complex<double>)

}  // namespace structmat
