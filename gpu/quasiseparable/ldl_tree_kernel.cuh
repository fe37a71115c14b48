/// \file
/// The tree over the chunks of a factorisation: elements (c, Phi, G) of ldl_kernel.cuh are combined on
/// the way up, and states f go down.
#pragma once

#include "quasiseparable/chunk_tree.cuh"
#include "quasiseparable/lane_columns.cuh"

namespace structmat::quasiseparable::device {

template <class T>
struct FactorLevel {
  Level<T> level;
  index_t batch, order;
};

/// The column of this lane of a matrix in memory.
template <class T, int R>
struct ElementColumn {
  __device__ ElementColumn(const T* matrix, int order, int lane) {
#pragma unroll
    for (int k = 0; k < R; ++k) v[k] = lane < order && k < order ? matrix[lane * order + k] : T(0);
  }
  __device__ T operator[](int k) const {
    return v[k];
  }

  T v[R];
};
template <class T>
struct ElementColumn<T, 0> {
  __device__ ElementColumn(const T* matrix, int order, int lane)
      : at(lane < order ? matrix + lane * order : nullptr) {}
  __device__ T operator[](int k) const { return at == nullptr ? T(0) : at[k]; }

  const T* at;
};

/// Shared memory of a group. Whole: elements, otherwise states only.
template <class T, int R, bool Whole>
__host__ __device__ constexpr index_t tree_elements(index_t order) {
  const index_t r = padded_order<R>(order);
  return group_stride<T>((Whole ? 4 : 2) * r * r + r * (r + 1) + 2 * r +
                         (Whole ? 5 : 3) * Column<T, R>::elements(order));
}

template <class T, int R, bool Whole>
class Accumulated {
 public:
  using Real = gpu::real_of_t<T>;
  using Lanes = Group<R>;

  __device__ Accumulated(int order, T* shared)
      : order_(order),
        size_(padded_order<R>(order)),
        lane_(Lanes::lane()),
        f_rows_(shared),
        transfer_rows_(f_rows_ + size_ * size_),
        gram_rows_(transfer_rows_ + size_ * size_),
        phi_adjoint_rows_(gram_rows_ + (Whole ? size_ * size_ : 0)),
        pivot_columns_(phi_adjoint_rows_ + (Whole ? size_ * size_ : 0)),
        tile_(pivot_columns_ + 2 * size_),
        columns_(tile_ + size_ * (size_ + 1)),
        f_(columns_, order),
        system_(columns_, order),
        spare_(columns_, order),
        phi_(columns_, Whole ? order : 0),
        gram_(columns_, Whole ? order : 0) {}

  /// From an element, or, null, from nothing.
  __device__ void start(const T* element) {
#pragma unroll
    for (int k = 0; k < padded(); ++k) f_[k] = T(0);
    if (element == nullptr) return;
    load(f_, element);
    if constexpr (Whole) {
      load(phi_, element + square());
      load(gram_, element + 2 * square());
    }
  }

  __device__ void store(T* element) const {
    keep(f_, element);
    if constexpr (Whole) {
      keep(phi_, element + square());
      keep(gram_, element + 2 * square());
    }
  }

  /// With the next element behind it.
  __device__ __forceinline__ void append(const T* element) {
    const ElementColumn<T, R> c(element, order_, lane_);
    const ElementColumn<T, R> transfer(element + square(), order_, lane_);
    const ElementColumn<T, R> gram(element + 2 * square(), order_, lane_);
    Lanes::sync();
    if (lane_ < size_) {
#pragma unroll
      for (int k = 0; k < padded(); ++k) {
        f_rows_[k * size_ + lane_] = f_[k];
        transfer_rows_[k * size_ + lane_] = transfer[k];
        if constexpr (Whole) {
          gram_rows_[k * size_ + lane_] = gram[k];
          phi_adjoint_rows_[lane_ * size_ + k] = gpu::conjugate(phi_[k]);
        }
      }
    }
    Lanes::sync();
#pragma unroll
    for (int k = 0; k < padded(); ++k) {
      system_[k] = T(k == lane_) - dot<R, T>(size_, row(f_rows_, k), gram);
    }
    eliminate();  // f := X f, phi := X phi

    // Phi' f Phi'^H = Phi' (Phi' f)^H, as f is Hermitian.
    multiply(spare_, transfer_rows_, f_);
    share_adjoint(spare_);
    multiply(spare_, transfer_rows_, Broadcast<T, 0>(tile_ + own() * (size_ + 1)));
    Lanes::sync();
    share_adjoint(spare_);
#pragma unroll
    for (int k = 0; k < padded(); ++k) {
      const T hermitian = Real(0.5) * (spare_[k] + tile_[own() * (size_ + 1) + k]);
      f_[k] = c[k] + hermitian;
    }
    if constexpr (Whole) {
      multiply(spare_, gram_rows_, phi_);
#pragma unroll
      for (int k = 0; k < padded(); ++k) {
        gram_[k] += dot<R, T>(size_, row(phi_adjoint_rows_, k), spare_);
      }
      multiply(spare_, transfer_rows_, phi_);
#pragma unroll
      for (int k = 0; k < padded(); ++k) phi_[k] = spare_[k];
    }
  }

  /// The state in front of the element that was appended last takes the place of its c.
  __device__ void store_state_before(T* element) const {
    if (lane_ >= order_) return;
    for (int k = 0; k < order_; ++k) element[lane_ * order_ + k] = f_rows_[k * size_ + lane_];
  }

 private:
  __device__ int padded() const {
    return padded_order<R>(size_);
  }
  __device__ int square() const {
    return order_ * order_;
  }
  /// Lanes without a column look at the first one.
  __device__ int own() const {
    return lane_ < size_ ? lane_ : 0;
  }
  __device__ Broadcast<T, R> row(const T* rows, int k) const {
    return Broadcast<T, R>(rows + k * size_);
  }

  __device__ void load(Column<T, R>& column, const T* matrix) {
    const ElementColumn<T, R> given(matrix, order_, lane_);
#pragma unroll
    for (int k = 0; k < padded(); ++k) column[k] = given[k];
  }
  __device__ void keep(const Column<T, R>& column, T* matrix) const {
    if (lane_ >= order_) return;
#pragma unroll
    for (int k = 0; k < padded(); ++k) {
      if (k < order_) matrix[lane_ * order_ + k] = column[k];
    }
  }

  template <class Col>
  __device__ __forceinline__ void multiply(Column<T, R>& to, const T* rows, const Col& column) {
#pragma unroll
    for (int k = 0; k < padded(); ++k) to[k] = dot<R, T>(size_, row(rows, k), column);
  }

  /// The tile's rows become the columns of the adjoint.
  __device__ __forceinline__ void share_adjoint(const Column<T, R>& column) {
    if (lane_ < size_) {
#pragma unroll
      for (int k = 0; k < padded(); ++k) {
        tile_[k * (size_ + 1) + lane_] = gpu::conjugate(column[k]);
      }
    }
    Lanes::sync();
  }

  /// f and phi are multiplied by the inverse of the system: Gauss-Jordan with pivots by rows.
  __device__ __forceinline__ void eliminate() {
#pragma unroll
    for (int k = 0; k < padded(); ++k) {
      T* const shared = pivot_columns_ + k % 2 * size_;
      if (lane_ == k) {
#pragma unroll
        for (int i = 0; i < padded(); ++i) shared[i] = system_[i];
      }
      Lanes::sync();
      const Broadcast<T, R> column(shared);
      int best = k;
      Real most = gpu::taxicab(column[k]);
      T pivot = column[k];
#pragma unroll
      for (int i = k + 1; i < padded(); ++i) {
        const T candidate = column[i];
        if (gpu::taxicab(candidate) > most) {
          best = i;
          most = gpu::taxicab(candidate);
          pivot = candidate;
        }
      }
      const T inverse = gpu::reciprocal(pivot);
      exchange(system_, k, best);
      exchange(f_, k, best);
      if constexpr (Whole) exchange(phi_, k, best);
      system_[k] = system_[k] * inverse;
      f_[k] = f_[k] * inverse;
      if constexpr (Whole) phi_[k] = phi_[k] * inverse;
#pragma unroll
      for (int i = 0; i < padded(); ++i) {
        if (i == k) continue;
        const T factor = -(i == best ? column[k] : column[i]);
        system_[i] = gpu::multiply_add(factor, system_[k], system_[i]);
        f_[i] = gpu::multiply_add(factor, f_[k], f_[i]);
        if constexpr (Whole) phi_[i] = gpu::multiply_add(factor, phi_[k], phi_[i]);
      }
    }
  }

  /// Rows k < best or k = best; no index that only the running program knows.
  __device__ __forceinline__ void exchange(Column<T, R>& column, int k, int best) {
    const T first = column[k];
    T second = first;
#pragma unroll
    for (int i = k + 1; i < padded(); ++i) {
      if (i == best) {
        second = column[i];
        column[i] = first;
      }
    }
    column[k] = second;
  }

  int order_, size_, lane_;
  T *f_rows_, *transfer_rows_, *gram_rows_, *phi_adjoint_rows_, *pivot_columns_, *tile_, *columns_;
  Column<T, R> f_, system_, spare_, phi_, gram_;
};

/// Parents from their children; the last parent, behind which nothing comes, is left out.
template <class T, int R>
__global__ void __launch_bounds__(Group<R>::block)
    combine_elements(const __grid_constant__ FactorLevel<T> problem) {
  const int order = static_cast<int>(problem.order);
  const Level<T>& level = problem.level;
  const index_t element = 3 * problem.order * problem.order, parents = level.parent_count - 1;
  T* const shared =
      gpu::dynamic_shared<T>() + Group<R>::number() * tree_elements<T, R, true>(problem.order);
  for (index_t unit = Group<R>::first(); unit < problem.batch * parents; unit += Group<R>::step()) {
    const index_t b = unit / parents, parent = unit - b * parents;
    const T* child = level.children + (b * level.child_count + parent * level.radix) * element;
    Accumulated<T, R, true> sum(order, shared);
    sum.start(child);
    for (index_t j = 1; j < level.radix; ++j) sum.append(child += element);
    sum.store(level.parents + (b * level.parent_count + parent) * element);
    Group<R>::sync();
  }
}

/// The states in front of children, from those in front of their parents.
template <class T, int R>
__global__ void __launch_bounds__(Group<R>::block)
    distribute_states(const __grid_constant__ FactorLevel<T> problem) {
  const int order = static_cast<int>(problem.order);
  const Level<T>& level = problem.level;
  const index_t element = 3 * problem.order * problem.order;
  T* const shared =
      gpu::dynamic_shared<T>() + Group<R>::number() * tree_elements<T, R, false>(problem.order);
  for (index_t unit = Group<R>::first(); unit < problem.batch * level.parent_count;
       unit += Group<R>::step()) {
    const index_t b = unit / level.parent_count, parent = unit - b * level.parent_count;
    const index_t begin = parent * level.radix, end = min(begin + level.radix, level.child_count);
    T* child = level.children + (b * level.child_count + begin) * element;
    Accumulated<T, R, false> state(order, shared);
    state.start(level.parents == nullptr ? nullptr : level.parents + unit * element);
    for (index_t j = begin; j + 1 < end; ++j, child += element) {
      state.append(child);
      state.store_state_before(child);
    }
    state.store(child);
    Group<R>::sync();
  }
}

}  // namespace structmat::quasiseparable::device
