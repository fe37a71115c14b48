// Fourier transforms that diagonalise the shifts: U Z_f = diag(z) U, see displacement/convert.hpp.
#include <string>

#include "core/instantiate.hpp"
#include "displacement/ring.hpp"
#include "structmat/displacement/convert.hpp"

namespace structmat::displacement {
namespace {

/// U b, U^-1 b, U^T b or U^-T b for the columns of b, U_kj = z_k^j / sqrt n.
template <class R>
class Eigenbasis {
 public:
  using C = std::complex<R>;

  Eigenbasis(index_t n, C corner) : n_(n), plan_(n), powers_(n, corner) {}

  Array<C, 2> apply(bool inverse, bool transposed, const View<const C, 2>& b) const {
    Array<C, 2> y(b.extents(), uninitialized);
    if (y.empty()) return y;
    std::vector<C> from(n_), to(n_);
    const View<C, 2> from_row(from.data(), {1, n_}), to_row(to.data(), {1, n_});
    const R norm = 1 / std::sqrt(R(n_));
    const std::vector<C> none;
    // U = F^H D, U^-1 = D^-1 F, U^T = D F^H, U^-T = F D^-1 (each F over sqrt n).
    const auto& weights = inverse ? powers_.down : powers_.up;
    const bool weights_first = inverse == transposed;
    for (index_t c = 0; c < b.extent(1); ++c) {
      for (index_t j = 0; j < n_; ++j) from[j] = b(j, c) * norm;
      if (weights_first) scale_by(weights, from.data(), from.data(), n_);
      inverse ? plan_.forward(from_row, to_row) : plan_.backward(from_row, to_row);
      if (!weights_first) scale_by(weights, to.data(), to.data(), n_);
      for (index_t j = 0; j < n_; ++j) y(j, c) = to[j];
    }
    return y;
  }

  /// z_k = phi exp(2 pi i k / n)
  std::vector<C> roots(C corner) const {
    const std::complex<double> f(corner);
    const double modulus = std::exp(std::log(std::abs(f)) / double(n_));
    std::vector<C> z;
    for (index_t k = 0; k < n_; ++k) {
      const double angle = (std::arg(f) + 2 * std::numbers::pi * double(k)) / double(n_);
      z.push_back(C(std::polar(std::abs(f) == 1 ? 1.0 : modulus, angle)));
    }
    return z;
  }

 private:
  index_t n_;
  fft::Plan<C> plan_;
  RootPowers<R> powers_;
};

template <Scalar T>
void require_eigenvectors(const char* operation, const Operator<T>& a) {
  if (a.kind != OperatorKind::diagonal && a.corner != T{}) return;
  throw DomainError(std::string(operation) +
                    (a.kind == OperatorKind::diagonal
                         ? ": the operator is a diagonal already"
                         : ": the shift with corner 0 has no basis of eigenvectors"));
}

template <Scalar T>
Array<complex_t<T>, 2> widened(const Array<T, 2>& a) {
  Array<complex_t<T>, 2> c(a.extents(), uninitialized);
  for (index_t i = 0; i < a.size(); ++i) c.data()[i] = complex_t<T>(a.data()[i]);
  return c;
}

template <Scalar T>
Operator<complex_t<T>> widened(const Operator<T>& a) {
  return {a.kind, complex_t<T>(a.corner), {a.x.begin(), a.x.end()}};
}

template <Scalar T>
Generators<complex_t<T>> widened(const Generators<T>& x) {
  return {{x.displacement.kind, widened(x.displacement.left), widened(x.displacement.right)},
          widened(x.g),
          widened(x.h)};
}

template <Scalar T>
void require_sylvester(const char* operation, const Generators<T>& x) {
  require_valid(operation, x);
  if (x.displacement.kind == Kind::sylvester) return;
  throw DomainError(std::string(operation) + ": it takes a Sylvester displacement");
}

/// W = U^-1 for Z_f, U^T for Z_f^T.
/// W^-1 b (inverse) or W b.
template <ComplexScalar T>
Array<T, 2> eigenvectors(const Operator<T>& a, bool inverse, const View<const T, 2>& b) {
  const Eigenbasis<real_t<T>> basis(b.extent(0), a.corner);
  const bool plain = a.kind == OperatorKind::shift;
  return basis.apply(plain != inverse, !plain, b);
}

/// W^T b or W^-T b.
template <ComplexScalar T>
Array<T, 2> eigenvectors_transposed(const Operator<T>& a, bool inverse, const View<const T, 2>& b) {
  const Eigenbasis<real_t<T>> basis(b.extent(0), a.corner);
  const bool plain = a.kind == OperatorKind::shift;
  return basis.apply(plain != inverse, plain, b);
}

template <ComplexScalar T>
Operator<T> eigenvalues(const Operator<T>& a, index_t n) {
  return diagonal(Eigenbasis<real_t<T>>(n, a.corner).roots(a.corner));
}

template <ComplexScalar T>
void require_roots(const char* operation, const Operator<T>& d, const Operator<T>& a, index_t n) {
  require_eigenvectors(operation, a);
  if (d.kind != OperatorKind::diagonal) {
    throw DomainError(std::string(operation) + ": the operator there is not a diagonal");
  }
  const Operator<T> expected = eigenvalues(a, n);
  for (index_t k = 0; k < n; ++k) {
    if (std::abs(d.x[k] - expected.x[k]) > 8 * epsilon<T> * std::abs(expected.x[k])) {
      throw DomainError(std::string(operation) + ": number " + std::to_string(k) +
                        " of the diagonal is not the root of the corner in its place");
    }
  }
}

}  // namespace

template <Scalar T>
Generators<complex_t<T>> diagonalise_left(const Generators<T>& x) {
  constexpr auto operation = "displacement::diagonalise_left";
  require_sylvester(operation, x);
  Generators<complex_t<T>> y = widened(x);
  auto& a = y.displacement.left;
  require_eigenvectors(operation, a);
  y.g = eigenvectors(a, true, View<const complex_t<T>, 2>(y.g.view()));
  a = eigenvalues(a, x.rows());
  return y;
}

template <Scalar T>
Generators<complex_t<T>> diagonalise_right(const Generators<T>& x) {
  constexpr auto operation = "displacement::diagonalise_right";
  require_sylvester(operation, x);
  Generators<complex_t<T>> y = widened(x);
  auto& b = y.displacement.right;
  require_eigenvectors(operation, b);
  y.h = eigenvectors_transposed(b, false, View<const complex_t<T>, 2>(y.h.view()));
  b = eigenvalues(b, x.cols());
  return y;
}

template <ComplexScalar T>
Generators<T> undiagonalise_left(const Generators<T>& x, const Operator<T>& a) {
  constexpr auto operation = "displacement::undiagonalise_left";
  require_sylvester(operation, x);
  require_roots(operation, x.displacement.left, a, x.rows());
  return {{Kind::sylvester, a, x.displacement.right},
          eigenvectors(a, false, View<const T, 2>(x.g.view())),
          x.h};
}

template <ComplexScalar T>
Generators<T> undiagonalise_right(const Generators<T>& x, const Operator<T>& b) {
  constexpr auto operation = "displacement::undiagonalise_right";
  require_sylvester(operation, x);
  require_roots(operation, x.displacement.right, b, x.cols());
  return {{Kind::sylvester, x.displacement.left, b},
          x.g,
          eigenvectors_transposed(b, true, View<const T, 2>(x.h.view()))};
}

template <ComplexScalar T>
Array<T, 2> to_eigenbasis(const Operator<T>& a, View<const T, 2> b) {
  require_eigenvectors("displacement::to_eigenbasis", a);
  return eigenvectors(a, true, b);
}

template <ComplexScalar T>
Array<T, 2> from_eigenbasis(const Operator<T>& a, View<const T, 2> b) {
  require_eigenvectors("displacement::from_eigenbasis", a);
  return eigenvectors(a, false, b);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT Generators<complex_t<T>> diagonalise_left<T>(const Generators<T>&); \
  template STRUCTMAT_EXPORT Generators<complex_t<T>> diagonalise_right<T>(const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#undef STRUCTMAT_INSTANTIATE

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT Generators<T> undiagonalise_left<T>(const Generators<T>&,           \
                                                                const Operator<T>&);            \
  template STRUCTMAT_EXPORT Generators<T> undiagonalise_right<T>(const Generators<T>&,          \
                                                                 const Operator<T>&);           \
  template STRUCTMAT_EXPORT Array<T, 2> to_eigenbasis<T>(const Operator<T>&, View<const T, 2>); \
  template STRUCTMAT_EXPORT Array<T, 2> from_eigenbasis<T>(const Operator<T>&, View<const T, 2>);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::displacement
