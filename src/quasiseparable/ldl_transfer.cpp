#include "quasiseparable/ldl_transfer.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "core/instantiate.hpp"

namespace structmat::quasiseparable {
namespace {

template <Scalar T>
struct Rows {
  index_t count, padded;
  bool solve;
  Run<const real_t<T>> out, in, a, d;  // d.data null: no G
};

template <Scalar T, bool Dense, int W, class Columns>
STRUCTMAT_INLINE void run(const Rows<T>& rows, index_t padded, Columns& rows_of_phi, Columns& gram,
                          real_t<T>* scratch) {
  using R = real_t<T>;
  using L = simd::Lanes<T, W>;
  const index_t blocks = padded / W, vector = blocks * L::reals;
  R* const t = scratch;
  ColumnsInMemory<T, W> next{t + vector, vector};
  for (index_t i = 0; i < rows.count; ++i) {
    const R *out = rows.out.row(i), *in = rows.in.row(i), *a = rows.a.row(i);
    for (index_t b = 0; b < blocks; ++b) {
      L tb = L::zero();
      if (rows.solve) {
        tb = combine<T, W>(rows_of_phi, padded, b,
                           [&](index_t k) STRUCTMAT_ALWAYS { return lane<T, W>(out, k); });
      }
      tb.store(t + b * L::reals);
    }
    if (rows.d.data != nullptr) {
      const R inverse = 1 / *rows.d.row(i);
      for (index_t b = 0; b < blocks; ++b) {
        const L column = L::zero().plus(T(inverse), conjugated(L::load(t + b * L::reals)));
#pragma GCC unroll 8
        for (index_t l = 0; l < padded; ++l) {
          gram.set(l, b, gram.get(l, b).plus(lane<T, W>(t, l), column));
        }
      }
    }
    for (index_t b = 0; b < blocks; ++b) {
      const L tb = L::load(t + b * L::reals);
#pragma GCC unroll 8
      for (index_t k = 0; k < padded; ++k) {
        const T less = -lane<T, W>(in, k);
        if constexpr (Dense) {
          const L moved = combine<T, W>(rows_of_phi, padded, b, [&](index_t m) STRUCTMAT_ALWAYS {
            return lane<T, W>(a + m * vector, k);
          });
          next.set(k, b, moved.plus(less, tb));
        } else {
          rows_of_phi.set(k, b,
                          L::zero().plus(lane<T, W>(a, k), rows_of_phi.get(k, b)).plus(less, tb));
        }
      }
    }
    if constexpr (Dense) std::copy_n(next.data, padded * vector, rows_of_phi.data);
  }
}

/// scratch: a vector, and a matrix for Dense.
template <Scalar T, bool Dense, int W, bool One>
STRUCTMAT_CLONES void transfer_rows(const Rows<T>& rows, real_t<T>* phi, real_t<T>* gram,
                                    real_t<T>* scratch) {
  if constexpr (One && !Dense) {
    ColumnsInRegisters<T, W> p(phi), g(gram);
    run<T, Dense, W>(rows, W, p, g, scratch);
    p.keep(phi);
    g.keep(gram);
  } else {
    const index_t padded = One ? W : rows.padded, vector = padded / W * simd::Lanes<T, W>::reals;
    ColumnsInMemory<T, W> p{phi, vector}, g{gram, vector};
    run<T, Dense, W>(rows, padded, p, g, scratch);
  }
}

/// a := b^{-1} a by elimination with partial pivoting; b is overwritten.
template <Scalar T>
void solve_small(Array<T, 2>& b, Array<T, 2>& a) {
  const index_t r = b.extent(0);
  for (index_t k = 0; k < r; ++k) {
    index_t best = k;
    for (index_t i = k + 1; i < r; ++i) {
      if (std::abs(b(i, k)) > std::abs(b(best, k))) best = i;
    }
    for (index_t j = 0; j < r && best != k; ++j) {
      std::swap(b(k, j), b(best, j));
      std::swap(a(k, j), a(best, j));
    }
    for (index_t i = k + 1; i < r; ++i) {
      const T factor = b(i, k) / b(k, k);
      for (index_t j = k; j < r; ++j) b(i, j) -= factor * b(k, j);
      for (index_t j = 0; j < r; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  for (index_t k = r - 1; k >= 0; --k) {
    for (index_t j = 0; j < r; ++j) {
      T sum = a(k, j);
      for (index_t i = k + 1; i < r; ++i) sum -= b(k, i) * a(i, j);
      a(k, j) = sum / b(k, k);
    }
  }
}

/// x y
template <Scalar T>
Array<T, 2> product(const View<const T, 2>& x, const View<const T, 2>& y) {
  const index_t r = x.extent(0);
  Array<T, 2> sum({r, r});
  for (index_t i = 0; i < r; ++i) {
    for (index_t k = 0; k < r; ++k) {
      for (index_t j = 0; j < r; ++j) sum(i, j) += x(i, k) * y(k, j);
    }
  }
  return sum;
}

}  // namespace

std::vector<index_t> chunk_ends(index_t n, int chunks) {
  // A local sweep with its transfer beside a sweep alone.
  constexpr double price = 1.5;
  const auto count = static_cast<std::size_t>(chunks);
  const double unit = static_cast<double>(n) / (price + static_cast<double>(chunks - 1));
  std::vector<index_t> ends(count, n);
  for (std::size_t j = 0; j + 1 < count; ++j) {
    ends[j] = static_cast<index_t>(unit * (price + static_cast<double>(j)));
  }
  return ends;
}

template <Scalar T, transition::Uniform K>
Transfer<T, K>::Transfer(const UnitTriangle<const T, K>& triangle, bool solve,
                         const View<const R, 1>& d)
    : layout_(triangle.out.extent(1)),
      solve_(solve),
      d_(d),
      out_(triangle.out, layout_, {.first = true}),
      in_(triangle.in, layout_, {.last = true}),
      a_(triangle.a, layout_, {.first = true, .last = true}),
      phi_({layout_.matrix()}),
      gram_({layout_.matrix()}),
      scratch_({layout_.vector() + (K::rank == 4 ? layout_.matrix() : 0)}) {
  for (index_t k = 0; k < layout_.order; ++k) {
    layout_.set(phi_.data() + k * layout_.vector(), k, T(1));
  }
}

template <Scalar T, transition::Uniform K>
void Transfer<T, K>::drop_faded() {
  constexpr R tiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  faded_ = true;
  for (R& v : phi_) {
    if (std::abs(v) < tiny) v = 0;
    faded_ &= v == 0;
  }
}

template <Scalar T, transition::Uniform K>
void Transfer<T, K>::rows(index_t begin, index_t end) {
  if (faded_) return;
  Rows<T> rows{end - begin,          layout_.padded,      solve_,      out_.rows(begin, end),
               in_.rows(begin, end), a_.rows(begin, end), {nullptr, 0}};
  if (d_.data() != nullptr) rows.d = {d_.data() + begin * d_.stride(0), d_.stride(0)};
  with_width(layout_, [&]<int W, bool One>() {
    transfer_rows<T, K::rank == 4, W, One>(rows, phi_.data(), gram_.data(), scratch_.data());
  });
  drop_faded();
}

template <Scalar T, transition::Uniform K>
void Transfer<T, K>::add_to_state(const R* s, R* s_local) const {
  for (index_t k = 0; k < layout_.order; ++k) {
    const R* const row = phi_.data() + k * layout_.vector();
    T sum = layout_.get(s_local, k);
    for (index_t l = 0; l < layout_.order; ++l) sum += layout_.get(row, l) * layout_.get(s, l);
    layout_.set(s_local, k, sum);
  }
}

template <Scalar T, transition::Uniform K>
Array<T, 2> Transfer<T, K>::dense(const R* columns) const {
  Array<T, 2> m({layout_.order, layout_.order});
  for (index_t k = 0; k < layout_.order; ++k) {
    for (index_t l = 0; l < layout_.order; ++l) {
      m(l, k) = layout_.get(columns + k * layout_.vector(), l);
    }
  }
  return m;
}

template <Scalar T, transition::Uniform K>
void Transfer<T, K>::add_to_factor(const R* f, R* f_local) const {
  const index_t r = layout_.order;
  Array<T, 2> start = dense(f);
  // f (1 - G f)^{-1} = (1 - f G)^{-1} f
  Array<T, 2> system = product<T>(start, dense(gram_.data()));
  for (index_t i = 0; i < r; ++i) {
    for (index_t j = 0; j < r; ++j) system(i, j) = T(i == j ? 1 : 0) - system(i, j);
  }
  solve_small(system, start);
  const Array<T, 2> phi_transposed = dense(phi_.data());
  Array<T, 2> phi_adjoint = phi_transposed;
  for (T& v : phi_adjoint) v = conjugate(v);
  const Array<T, 2> added =
      product<T>(product<T>(phi_transposed.view().transposed(), start), phi_adjoint);
  for (index_t l = 0; l < r; ++l) {
    R* const column = f_local + l * layout_.vector();
    for (index_t k = 0; k < r; ++k) {
      const T hermitian = (added(k, l) + conjugate(added(l, k))) / R(2);
      layout_.set(column, k, layout_.get(column, k) + hermitian);
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T, K) template class Transfer<T, transition::K>;
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
