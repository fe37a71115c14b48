#include "cauchy/elimination_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace structmat::cauchy {
namespace {

using simd::Lanes;
using simd::Vector;

template <class R>
using Reals = Vector<R, lane_width<R>>;
template <class T>
using Block = Lanes<T, lane_width<real_t<T>>>;
/// Integers as wide as R.
template <class R>
struct IndexVector {
  using I = std::conditional_t<sizeof(R) == 8, std::int64_t, std::int32_t>;
  typedef I type __attribute__((vector_size(64)));
};

template <class R>
STRUCTMAT_INLINE Reals<R> magnitude(const Reals<R>& x) {
  return x < 0 ? -x : x;
}
template <class R>
STRUCTMAT_INLINE Reals<R> size_of(const Lanes<R, lane_width<R>>& x) {
  return magnitude<R>(x.v);
}
template <class R>
STRUCTMAT_INLINE Reals<R> size_of(const Lanes<std::complex<R>, lane_width<R>>& x) {
  return magnitude<R>(x.re) + magnitude<R>(x.im);
}

/// A scalar of a record, as a number.
template <class T>
STRUCTMAT_INLINE T scalar(const real_t<T>* p) {
  if constexpr (is_complex_v<T>) {
    return {p[0], p[1]};
  } else {
    return *p;
  }
}

template <class R>
struct Nodes;

template <class R>
struct Nodes<LineNode<R>> {
  static constexpr int W = lane_width<R>;
  STRUCTMAT_INLINE static Lanes<R, W> difference(const R* node, const R* other) {
    return {simd::load<Reals<R>>(node) - other[0]};
  }
  STRUCTMAT_INLINE static Lanes<R, W> reciprocal(const R* node, const R* other) {
    return {1 / difference(node, other).v};
  }
};

/// Without the weight of the other node, which is in the record.
template <class R>
struct Nodes<CircleNode<R>> {
  static constexpr int W = lane_width<R>;
  STRUCTMAT_INLINE static Lanes<std::complex<R>, W> reciprocal(const R* node, const R* other) {
    const Reals<R> value = simd::load<Reals<R>>(node), rest = simd::load<Reals<R>>(node + W);
    const Reals<R> inverse = 1 / ((value - other[0]) + (rest - other[1]));
    return {inverse, -value * inverse};
  }
};

template <class R>
struct Nodes<PlaneNode<R>> {
  static constexpr int W = lane_width<R>;
  using L = Lanes<std::complex<R>, W>;
  STRUCTMAT_INLINE static L difference(const R* node, const R* other) {
    return {simd::load<Reals<R>>(node) - other[0], simd::load<Reals<R>>(node + W) - other[1]};
  }
  /// Divides by the larger part first: squares of the parts could leave the range.
  STRUCTMAT_INLINE static L reciprocal(const R* node, const R* other) {
    const L d = difference(node, other);
    const auto wide = magnitude<R>(d.re) >= magnitude<R>(d.im);
    const Reals<R> high = wide ? d.re : d.im, low = wide ? d.im : d.re;
    const Reals<R> ratio = low / high, inverse = 1 / (high + low * ratio), rest = ratio * inverse;
    return {wide ? inverse : rest, -(wide ? rest : inverse)};
  }
};

template <class R>
STRUCTMAT_INLINE Lanes<R, lane_width<R>> times(const Lanes<R, lane_width<R>>& a,
                                               const Lanes<R, lane_width<R>>& x) {
  return {a.v * x.v};
}
template <class R>
STRUCTMAT_INLINE Lanes<std::complex<R>, lane_width<R>> times(
    const Lanes<std::complex<R>, lane_width<R>>& a,
    const Lanes<std::complex<R>, lane_width<R>>& x) {
  return {a.re * x.re - a.im * x.im, a.re * x.im + a.im * x.re};
}

/// The largest of many, with its place.
template <class R>
class Largest {
 public:
  STRUCTMAT_INLINE void see(const Reals<R>& sizes, index_t block) {
    const auto more = sizes > sizes_;
    sizes_ = more ? sizes : sizes_;
    blocks_ = more ? typename IndexVector<R>::type{} + static_cast<Index>(block) : blocks_;
  }
  STRUCTMAT_INLINE Best<R> best() const {
    Best<R> found{R{-1}, 0};
    for (int lane = 0; lane < lane_width<R>; ++lane) {
      const index_t index = index_t{blocks_[lane]} * lane_width<R> + lane;
      if (sizes_[lane] > found.size || (sizes_[lane] == found.size && index < found.index)) {
        found = {sizes_[lane], index};
      }
    }
    return found;
  }

 private:
  using Index = typename IndexVector<R>::I;
  Reals<R> sizes_ = Reals<R>{} - 1;
  typename IndexVector<R>::type blocks_{};
};

/// The next generator of a line by products.
template <class T, class Node>
STRUCTMAT_INLINE Block<T> next_by_product(const Block<T>& v, const real_t<T>* node,
                                          const real_t<T>* record) {
  return simd::times(Reals<real_t<T>>{} + record[4],
                     times(Nodes<Node>::difference(node, record + 2), v));
}

template <class T, class Node, Step step, bool update, bool entries>
STRUCTMAT_INLINE Best<real_t<T>> rows(const Pass<T>& p) {
  using R = real_t<T>;
  const index_t order = step == Step::order_two ? 2 : step == Step::product ? 1 : p.order;
  const R* dot = entries ? p.pivot + 4 : nullptr;
  const R* change = update ? p.finished + 4 + order * parts<T> : nullptr;
  Largest<R> largest;
  for (index_t b = p.first; b < p.last; ++b) {
    const R* node = p.node + b * Node::fields * lane_width<R>;
    R *x = p.x + b * order * Block<T>::reals, *v = p.v + b * Block<T>::reals;
    const Block<T> old = update ? Block<T>::load(v) : Block<T>::zero();
    Block<T> sum = Block<T>::zero();
    for (index_t l = 0; l < order; ++l) {
      Block<T> now = Block<T>::load(x + l * Block<T>::reals);
      if constexpr (update) {
        if constexpr (step == Step::product) {
          now = next_by_product<T, Node>(old, node, p.finished);
        } else {
          now = now.plus(scalar<T>(change + l * parts<T>), old);
        }
        now.store(x + l * Block<T>::reals);
      }
      if constexpr (entries) sum = sum.plus(scalar<T>(dot + l * parts<T>), now);
    }
    if constexpr (entries) {
      const Block<T> value = times(Nodes<Node>::reciprocal(node, p.pivot), sum);
      value.store(v);
      largest.see(size_of(value), b);
    }
  }
  return largest.best();
}

template <class T, class Node, Step step>
STRUCTMAT_CLONES Best<real_t<T>> all_rows(const Pass<T>& p) {
  if (p.pivot == nullptr) return rows<T, Node, step, true, false>(p);
  if (p.finished == nullptr) return rows<T, Node, step, false, true>(p);
  return rows<T, Node, step, true, true>(p);
}

template <class T, class Node, Step step, bool eliminate>
STRUCTMAT_INLINE Best<real_t<T>> columns(const Pass<T>& p) {
  using R = real_t<T>;
  const index_t order = step == Step::order_two ? 2 : step == Step::product ? 1 : p.order;
  const R* dot = eliminate ? p.pivot + 4 : nullptr;
  const R* change = eliminate ? dot + order * parts<T> : nullptr;
  Largest<R> largest;
  for (index_t b = p.first; b < p.last; ++b) {
    const R* node = p.node + b * Node::fields * lane_width<R>;
    R* x = p.x + b * order * Block<T>::reals;
    Block<T> v = Block<T>::zero();
    if constexpr (eliminate) {
      for (index_t l = 0; l < order; ++l) {
        v = v.plus(scalar<T>(dot + l * parts<T>), Block<T>::load(x + l * Block<T>::reals));
      }
      v = times(Nodes<Node>::reciprocal(node, p.pivot), v);
    }
    Reals<R> size{};
    for (index_t l = 0; l < order; ++l) {
      Block<T> now = Block<T>::load(x + l * Block<T>::reals);
      if constexpr (eliminate) {
        if constexpr (step == Step::product) {
          now = next_by_product<T, Node>(v, node, p.pivot);
        } else {
          now = now.plus(scalar<T>(change + l * parts<T>), v);
        }
        now.store(x + l * Block<T>::reals);
      }
      size += size_of(now);
    }
    largest.see(size, b);
  }
  return largest.best();
}

template <class T, class Node, Step step>
STRUCTMAT_CLONES Best<real_t<T>> all_columns(const Pass<T>& p) {
  return p.pivot == nullptr ? columns<T, Node, step, false>(p) : columns<T, Node, step, true>(p);
}

template <class T>
STRUCTMAT_INLINE void substitute(real_t<T>* x, index_t order, const T* matrix) {
  for (index_t l = 0; l < order; ++l) {
    Block<T> now = Block<T>::load(x + l * Block<T>::reals);
    for (index_t m = 0; m < l; ++m) {
      now = now.plus(-matrix[m * order + l], Block<T>::load(x + m * Block<T>::reals));
    }
    Block<T>::zero().plus(matrix[l * order + l], now).store(x + l * Block<T>::reals);
  }
}

template <class T>
STRUCTMAT_CLONES void substitute_all(real_t<T>* x, index_t blocks, index_t order, const T* matrix) {
  for (index_t b = 0; b < blocks; ++b) substitute(x + b * order * Block<T>::reals, order, matrix);
}

template <class T>
STRUCTMAT_CLONES void multiply_all(real_t<T>* x, index_t blocks, index_t order, const T* matrix) {
  for (index_t b = 0; b < blocks; ++b, x += order * Block<T>::reals) {
    for (index_t l = 0; l < order; ++l) {
      Block<T> sum = Block<T>::zero();
      for (index_t m = l; m < order; ++m) {
        sum = sum.plus(matrix[l * order + m], Block<T>::load(x + m * Block<T>::reals));
      }
      sum.store(x + l * Block<T>::reals);
    }
  }
}

/// sum of conj(x_m) x_l
template <class T>
STRUCTMAT_CLONES T inner(const real_t<T>* x, index_t blocks, index_t order, index_t m, index_t l) {
  Block<T> sum = Block<T>::zero();
  for (index_t b = 0; b < blocks; ++b, x += order * Block<T>::reals) {
    sum = simd::plus_conjugate(sum, Block<T>::load(x + m * Block<T>::reals),
                               Block<T>::load(x + l * Block<T>::reals));
  }
  return simd::sum_lanes(sum);
}

/// x_l := factor (x_l + c x_m); m = l: only the factor.
template <class T>
STRUCTMAT_CLONES void combine(real_t<T>* x, index_t blocks, index_t order, index_t m, const T& c,
                              index_t l) {
  for (index_t b = 0; b < blocks; ++b, x += order * Block<T>::reals) {
    const Block<T> other = Block<T>::load(x + m * Block<T>::reals);
    const Block<T> now = m == l ? Block<T>::zero() : Block<T>::load(x + l * Block<T>::reals);
    now.plus(c, other).store(x + l * Block<T>::reals);
  }
}

template <class R>
STRUCTMAT_CLONES R squares(const R* x, index_t count) {
  R sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < count; ++i) sum += x[i] * x[i];
  return sum;
}

template <class R>
STRUCTMAT_CLONES R modulus(const R* x, index_t count) {
  R largest = 0;
#pragma omp simd reduction(max : largest)
  for (index_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

template <class T, class Node, int B>
STRUCTMAT_INLINE void panel_order_two(const PanelPass<T, Node>& p) {
  using R = real_t<T>;
  constexpr index_t reals = Block<T>::reals;
  Block<T> x[B][2];
  for (int b = 0; b < B; ++b) {
    x[b][0] = Block<T>::load(p.x + 2 * b * reals);
    x[b][1] = Block<T>::load(p.x + (2 * b + 1) * reals);
  }
  for (index_t k = p.first; k < p.last; ++k) {
    const R* record = p.pivots + k * p.record;
    const T dot0 = scalar<T>(record + 4), dot1 = scalar<T>(record + 4 + parts<T>);
    const T change0 = scalar<T>(record + 4 + 2 * parts<T>),
            change1 = scalar<T>(record + 4 + 3 * parts<T>);
#pragma GCC unroll 4
    for (int b = 0; b < B; ++b) {
      const R* node = p.node + b * Node::fields * lane_width<R>;
      const Block<T> v = times(Nodes<Node>::reciprocal(node, record),
                               Block<T>::zero().plus(dot0, x[b][0]).plus(dot1, x[b][1]));
      v.store(p.panel + (k * panel_blocks + b) * reals);
      x[b][0] = x[b][0].plus(change0, v);
      x[b][1] = x[b][1].plus(change1, v);
    }
  }
  for (int b = 0; b < B; ++b) {
    x[b][0].store(p.x + 2 * b * reals);
    x[b][1].store(p.x + (2 * b + 1) * reals);
  }
}

template <class T, class Node, Step step>
STRUCTMAT_CLONES void panel(const PanelPass<T, Node>& p) {
  using R = real_t<T>;
  constexpr index_t reals = Block<T>::reals;
  if constexpr (step == Step::order_two) {
    panel_order_two<T, Node, panel_blocks>(p);
  } else {
    for (index_t k = p.first; k < p.last; ++k) {
      const R* record = p.pivots + k * p.record;
      const R *dot = record + 4, *change = dot + p.order * parts<T>;
      for (int b = 0; b < panel_blocks; ++b) {
        const R* node = p.node + b * Node::fields * lane_width<R>;
        R* x = p.x + b * p.order * reals;
        Block<T> v = Block<T>::zero();
        for (index_t l = 0; l < p.order; ++l) {
          v = v.plus(scalar<T>(dot + l * parts<T>), Block<T>::load(x + l * reals));
        }
        v = times(Nodes<Node>::reciprocal(node, record), v);
        v.store(p.panel + (k * panel_blocks + b) * reals);
        if constexpr (step == Step::product) {
          next_by_product<T, Node>(v, node, record).store(x);
        } else {
          for (index_t l = 0; l < p.order; ++l) {
            Block<T>::load(x + l * reals)
                .plus(scalar<T>(change + l * parts<T>), v)
                .store(x + l * reals);
          }
        }
      }
    }
  }
}

template <class T>
STRUCTMAT_CLONES void gather(const real_t<T>* panel, index_t count, const T* y, real_t<T>* sums) {
  constexpr index_t reals = Block<T>::reals;
  Block<T> sum[panel_blocks];
  for (auto& s : sum) s = Block<T>::zero();
  for (index_t k = 0; k < count; ++k, panel += panel_blocks * reals) {
#pragma GCC unroll 4
    for (int b = 0; b < panel_blocks; ++b) {
      sum[b] = sum[b].plus(y[k], Block<T>::load(panel + b * reals));
    }
  }
  for (int b = 0; b < panel_blocks; ++b) sum[b].store(sums + b * reals);
}

template <class T>
STRUCTMAT_CLONES void scatter(const real_t<T>* panel, index_t count, const real_t<T>* x, T* y) {
  constexpr index_t reals = Block<T>::reals;
  Block<T> factor[panel_blocks];
  for (int b = 0; b < panel_blocks; ++b) factor[b] = Block<T>::load(x + b * reals);
  for (index_t k = 0; k < count; ++k, panel += panel_blocks * reals) {
    Block<T> sum = Block<T>::zero();
#pragma GCC unroll 4
    for (int b = 0; b < panel_blocks; ++b) {
      sum = simd::plus_product(sum, factor[b], Block<T>::load(panel + b * reals));
    }
    y[k] -= simd::sum_lanes(sum);
  }
}

}  // namespace

template <Scalar T, class Node>
Best<real_t<T>> pass_rows(const Pass<T>& p, Step step) {
  if constexpr (!std::same_as<Node, CircleNode<real_t<T>>>) {
    if (step == Step::product) return all_rows<T, Node, Step::product>(p);
  }
  if (step == Step::order_two) return all_rows<T, Node, Step::order_two>(p);
  return all_rows<T, Node, Step::general>(p);
}

template <Scalar T, class Node>
Best<real_t<T>> pass_columns(const Pass<T>& p, Step step) {
  if constexpr (!std::same_as<Node, CircleNode<real_t<T>>>) {
    if (step == Step::product) return all_columns<T, Node, Step::product>(p);
  }
  if (step == Step::order_two) return all_columns<T, Node, Step::order_two>(p);
  return all_columns<T, Node, Step::general>(p);
}

template <Scalar T>
void transform_rows(real_t<T>* x, index_t blocks, index_t order, const T* matrix) {
  substitute_all<T>(x, blocks, order, matrix);
}
template <Scalar T>
void transform_columns(real_t<T>* x, index_t blocks, index_t order, const T* matrix) {
  multiply_all<T>(x, blocks, order, matrix);
}

template <Scalar T>
void orthogonalise(real_t<T>* x, index_t first, index_t last, index_t order, T* matrix) {
  using R = real_t<T>;
  R* active = x + first * order * Block<T>::reals;
  const index_t blocks = last - first;
  for (index_t l = 0; l < order; ++l) {
    for (index_t m = 0; m < l; ++m) {
      const T r = inner<T>(active, blocks, order, m, l);
      matrix[m * order + l] = r;
      combine<T>(active, blocks, order, m, -r, l);
    }
    const R norm = std::sqrt(std::real(inner<T>(active, blocks, order, l, l)));
    const T inverse = norm > 0 ? T(1 / norm) : T(1);
    matrix[l * order + l] = inverse;
    combine<T>(active, blocks, order, l, inverse, l);
  }
}

template <RealScalar R>
double sum_of_squares(const R* x, index_t count) {
  return double(squares<R>(x, count));
}
template <RealScalar R>
R largest_modulus(const R* x, index_t count) {
  return modulus<R>(x, count);
}

template <Scalar T, class Node>
void pass_panel(const PanelPass<T, Node>& p, Step step) {
  if constexpr (!std::same_as<Node, CircleNode<real_t<T>>>) {
    if (step == Step::product) return panel<T, Node, Step::product>(p);
  }
  if (step == Step::order_two) return panel<T, Node, Step::order_two>(p);
  panel<T, Node, Step::general>(p);
}

template <Scalar T>
void gather_panel(const real_t<T>* panel, index_t count, const T* y, real_t<T>* sums) {
  gather<T>(panel, count, y, sums);
}
template <Scalar T>
void scatter_panel(const real_t<T>* panel, index_t count, const real_t<T>* x, T* y) {
  scatter<T>(panel, count, x, y);
}

#define STRUCTMAT_INSTANTIATE(T)                                                  \
  template void transform_rows<T>(real_t<T>*, index_t, index_t, const T*);        \
  template void transform_columns<T>(real_t<T>*, index_t, index_t, const T*);     \
  template void orthogonalise<T>(real_t<T>*, index_t, index_t, index_t, T*);      \
  template void gather_panel<T>(const real_t<T>*, index_t, const T*, real_t<T>*); \
  template void scatter_panel<T>(const real_t<T>*, index_t, const real_t<T>*, T*);
#define STRUCTMAT_INSTANTIATE_NODES(T, Node)                            \
  template Best<real_t<T>> pass_rows<T, Node>(const Pass<T>&, Step);    \
  template Best<real_t<T>> pass_columns<T, Node>(const Pass<T>&, Step); \
  template void pass_panel<T, Node>(const PanelPass<T, Node>&, Step);
template double sum_of_squares<float>(const float*, index_t);
template double sum_of_squares<double>(const double*, index_t);
template float largest_modulus<float>(const float*, index_t);
template double largest_modulus<double>(const double*, index_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)
STRUCTMAT_INSTANTIATE_NODES(float, LineNode<float>)
STRUCTMAT_INSTANTIATE_NODES(double, LineNode<double>)
STRUCTMAT_INSTANTIATE_NODES(std::complex<float>, CircleNode<float>)
STRUCTMAT_INSTANTIATE_NODES(std::complex<double>, CircleNode<double>)
STRUCTMAT_INSTANTIATE_NODES(std::complex<float>, PlaneNode<float>)
STRUCTMAT_INSTANTIATE_NODES(std::complex<double>, PlaneNode<double>)

}  // namespace structmat::cauchy
