#include "structmat/quasiseparable/to_low_rank.hpp"

#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "quasiseparable/transitions.hpp"
#include "structmat/dense/lapack.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr auto operation = "quasiseparable::to_low_rank_triangles";

template <Scalar T>
using Square = Array<T, 2>;

/// c := a b for matrices of r x r, diagonal ones stored as one row.
template <Scalar T>
Square<T> product(const Square<T>& a, const Square<T>& b) {
  Square<T> c(b.extents());
  for (index_t i = 0; i < c.extent(0); ++i) {
    for (index_t j = 0; j < c.extent(1); ++j) {
      if (a.extent(0) != a.extent(1)) {
        c(i, j) = a(i, j) * b(i, j);
        continue;
      }
      for (index_t k = 0; k < a.extent(1); ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

template <Scalar T>
real_t<T> largest(const Square<T>& a) {
  real_t<T> most = 0;
  for (const T& x : a) most = std::max(most, std::abs(x));
  return most;
}

/// The products C_i and their inverses, which move from index to index.
template <Scalar T, transition::Uniform K>
class Products {
 public:
  Products(View<const T, K::rank> a, index_t batch, index_t r, const char* name)
      : a_(a), batch_(batch), name_(name), forward_(identity(r)), backward_(forward_) {}

  /// From C_{i-1} to C_i.
  void up(index_t i) {
    const auto [a, inverse] = transition_at(i);
    forward_ = product(a, forward_);
    backward_ = product(backward_, inverse);
    require_usable(i);
  }
  /// From C_i to C_{i-1}.
  void down(index_t i) {
    const auto [a, inverse] = transition_at(i);
    forward_ = product(inverse, forward_);
    backward_ = product(backward_, a);
    require_usable(i);
  }
  /// C^T p
  void write_left(const View<const T, 3>& p, index_t i, const View<T, 3>& u) const {
    for (index_t k = 0; k < p.extent(2); ++k) {
      if (is_diagonal()) u(batch_, i, k) = forward_(0, k) * p(batch_, i, k);
      for (index_t l = 0; !is_diagonal() && l < p.extent(2); ++l) {
        u(batch_, i, k) += forward_(l, k) * p(batch_, i, l);
      }
    }
  }
  /// C^-1 q
  void write_right(const View<const T, 3>& q, index_t i, const View<T, 3>& v) const {
    for (index_t k = 0; k < q.extent(2); ++k) {
      if (is_diagonal()) v(batch_, i, k) = backward_(0, k) * q(batch_, i, k);
      for (index_t l = 0; !is_diagonal() && l < q.extent(2); ++l) {
        v(batch_, i, k) += backward_(k, l) * q(batch_, i, l);
      }
    }
  }

 private:
  static constexpr bool is_dense = K::rank == transition::Dense::rank;
  static constexpr bool is_diagonal() { return !is_dense; }

  static Square<T> identity(index_t r) {
    Square<T> one({is_dense ? r : 1, r});
    for (index_t k = 0; k < r; ++k) one(is_dense ? k : 0, k) = T{1};
    return one;
  }

  /// a_i and its inverse.
  std::pair<Square<T>, Square<T>> transition_at(index_t i) const {
    Square<T> a(forward_.extents());
    for (index_t k = 0; k < a.extent(0); ++k) {
      for (index_t l = 0; l < a.extent(1); ++l) {
        if constexpr (K::rank == transition::Scalar::rank) a(k, l) = a_(batch_, i);
        if constexpr (K::rank == transition::Diagonal::rank) a(k, l) = a_(batch_, i, l);
        if constexpr (K::rank == transition::Dense::rank) a(k, l) = a_(batch_, i, k, l);
      }
    }
    Square<T> inverse = a;
    bool regular = std::isfinite(largest(a));
    if constexpr (is_dense) {
      // The transpose of a row-major matrix is column-major, and so is that of its inverse.
      regular = regular && dense::invert<T>(inverse.view().transposed());
    } else {
      for (T& x : inverse) {
        regular = regular && x != T{};
        x = T{1} / x;
      }
    }
    if (!regular) refuse(i, "is singular, or not finite");
    return {std::move(a), std::move(inverse)};
  }

  void require_usable(index_t i) const {
    const auto usable = [](const Square<T>& c) {
      for (const T& x : c) {
        const real_t<T> size = std::abs(x);
        if (!std::isfinite(size)) return false;
        if (!is_dense && size < std::numeric_limits<real_t<T>>::min()) return false;
      }
      return true;
    };
    if (!usable(forward_) || !usable(backward_)) {
      refuse(i, "makes the product of transitions over- or underflow");
    }
    const double condition =
        double(largest(forward_)) * double(largest(backward_)) * double(forward_.extent(1));
    if (is_dense && condition > 1 / double(epsilon<T>)) {
      refuse(i, "makes the product of transitions singular to working precision");
    }
  }

  [[noreturn]] void refuse(index_t i, const char* reason) const {
    throw DomainError(std::string(operation) + ": transition " + name_ + "[" + std::to_string(i) +
                      "] of batch entry " + std::to_string(batch_) + " " + reason);
  }

  View<const T, K::rank> a_;
  index_t batch_;
  const char* name_;
  Square<T> forward_, backward_;
};

/// U and V of the lower triangle (p, a, q), or of the transpose of the upper one.
template <Scalar T, transition::Uniform K>
void split(const View<const T, 3>& p, const View<const T, K::rank>& a, const View<const T, 3>& q,
           const char* name, const View<T, 3>& u, const View<T, 3>& v) {
  const index_t n = p.extent(1), centre = (n - 1) / 2;
  for (index_t b = 0; n > 1 && b < p.extent(0); ++b) {
    const Products<T, K> start(a, b, p.extent(2), name);
    const auto write = [&](const Products<T, K>& c, index_t i) {
      c.write_left(p, i + 1, u);
      c.write_right(q, i, v);
    };
    write(start, centre);
    Products<T, K> c = start;
    for (index_t i = centre + 1; i + 1 < n; ++i) {
      c.up(i);
      write(c, i);
    }
    c = start;
    for (index_t i = centre; i > 0; --i) {
      c.down(i);
      write(c, i - 1);
    }
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
LowRankTriangles<T> to_low_rank_triangles(const QuasiseparableView<T, K>& matrix) {
  const auto m = checked(matrix, operation);
  const auto [lower, upper] = m.order();
  const index_t n = m.size(), batch = m.batch();
  LowRankTriangles<T> result{Array<T, 3>({batch, n, lower}), Array<T, 3>({batch, n, lower}),
                             to_array(m.d), Array<T, 3>({batch, n, upper}),
                             Array<T, 3>({batch, n, upper})};
  split<T, K>(m.p, m.a, m.q, "a", result.u, result.v);
  split<T, K>(m.h, transposed_transitions(m.b), m.g, "b", result.x, result.w);
  return result;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                      \
  template STRUCTMAT_EXPORT LowRankTriangles<T> to_low_rank_triangles<T, transition::K>( \
      const QuasiseparableView<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
