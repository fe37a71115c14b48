/// \file
/// Butterfly matrices: products of sparse factors with two numbers a row, and K-matrices.
///
///   M = S_m (F_{last} ... F_1 F_0) S_n^T
///
/// Each factor is of size N = 2^L >= max(m, n); S_m and S_n keep the leading m and n coordinates. A
/// factor of stride s = 2^l couples the coordinates i and i + s whose bit l is 0 and 1 in pairs: with
/// p = (i / 2s) s + i mod s the number of the pair,
///
///   (F x)_i     = f_{p,0,0} x_i + f_{p,0,1} x_{i+s}
///   (F x)_{i+s} = f_{p,1,0} x_i + f_{p,1,1} x_{i+s}
///
/// | part    | shape                                 |
/// |---------|---------------------------------------|
/// | factors | (batch, stages * L, N / 2, 2, 2)      |
///
/// Factor 0 is applied first. L factors make a stage, in which the strides increase, 1 to N / 2, or
/// decrease, N / 2 to 1; neighbouring stages run in opposite directions. A leading extent 1 is
/// broadcast over the batch; views may broadcast with stride 0. N = 1 has no factors.
///
/// | matrix                                   | stages | first      |
/// |------------------------------------------|--------|------------|
/// | B, the butterfly of Dao et al. 2019      | 1      | increasing |
/// | B^T                                      | 1      | decreasing |
/// | (B B*)^w_e, N = e n: K-matrix of width w | 2 w    | decreasing |
/// | DFT after bit reversal (fourier.hpp)     | 1      | increasing |
///
/// | operation                                     | cost                      | header        |
/// |-----------------------------------------------|---------------------------|---------------|
/// | apply, transpose, adjoint, k right-hand sides | O(N log N stages k)       | apply.hpp     |
/// | apply_vjp                                     | O(N log N stages k)       | apply_vjp.hpp |
/// | entry                                         | O(N log N stages)         | here          |
/// | to_dense                                      | O(n N log N stages)       | here          |
///
/// | here       | torch_butterfly                                   |
/// |------------|---------------------------------------------------|
/// | factors    | twiddle (nstacks, nblocks, log n, n / 2, 2, 2)     |
/// | stages     | nblocks                                           |
/// | first      | increasing_stride                                 |
///
/// Source: Dao, Gu, Eichhorn, Rudra, Re, "Learning fast algorithms for linear transforms using
/// butterfly factorizations" (2019); Dao et al., "Kaleidoscope: an efficient, learnable
/// representation for all structured linear maps" (2020).
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"

namespace structmat {

/// How the strides of a stage run, in the order of application.
enum class Strides { increasing, decreasing };

constexpr Strides opposite(Strides s) {
  return s == Strides::increasing ? Strides::decreasing : Strides::increasing;
}

namespace detail {
/// log2 N of the smallest power of two N >= m, n.
constexpr index_t butterfly_levels(index_t m, index_t n) {
  index_t levels = 0;
  while (levels < 62 && (index_t{1} << levels) < (m > n ? m : n)) ++levels;
  return levels;
}
}  // namespace detail

/// Factors that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct ButterflyView {
  using value_type = T;

  const ButterflyView& view() const { return *this; }

  View<const T, 5, Space> factors{};
  index_t row_count = 0, col_count = 0;
  Strides first = Strides::increasing;

  index_t batch() const { return factors.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return col_count; }
  /// N, the size of the factors.
  index_t size() const { return factors.extent(2) > 0 ? 2 * factors.extent(2) : 1; }
  /// L = log2 N.
  index_t levels() const { return detail::butterfly_levels(size(), 0); }
  index_t stages() const { return levels() > 0 ? factors.extent(1) / levels() : 0; }
  /// The stride of a factor.
  index_t stride(index_t factor) const {
    const index_t l = factor % levels();
    const bool increasing = (first == Strides::increasing) == (factor / levels() % 2 == 0);
    return index_t{1} << (increasing ? l : levels() - 1 - l);
  }

  /// M^T: factors transposed, in the opposite order.
  ButterflyView transposed() const {
    return {factors.reversed(1).transposed(), col_count, row_count,
            stages() % 2 == 0 ? first : opposite(first)};
  }
};

namespace butterfly {

/// The same matrix with a batch extent 1 broadcast to `batch`. Throws ShapeError, on behalf of
/// `operation`: factors that are not (batch, stages * log2 N, N / 2, 2, 2), N below m or n.
template <Scalar T, class Space>
ButterflyView<T, Space> checked(ButterflyView<T, Space> m, const char* operation,
                                index_t batch = 1);

}  // namespace butterfly

/// A butterfly matrix that owns its factors (see the file's head).
template <Scalar T, class Space = space::host>
class Butterfly : public OperatorMembers<Butterfly<T, Space>, T> {
 public:
  using value_type = T;

  Butterfly() = default;

  /// Zero factors of the smallest N >= max(m, n). m, n, stages, batch >= 0; throws ShapeError.
  Butterfly(index_t m, index_t n, index_t stages = 1, Strides first_stage = Strides::increasing,
            index_t batch = 1)
      : Butterfly(m, n, stages, first_stage, batch, detail::butterfly_levels(m, n)) {}

  /// The same with N = 2^levels: K-matrices with an expansion.
  Butterfly(index_t m, index_t n, index_t stages, Strides first_stage, index_t batch,
            index_t levels)
      : factors({batch, stages * levels, levels > 0 ? index_t{1} << (levels - 1) : 0, 2, 2}),
        row_count(m),
        col_count(n),
        first(first_stage) {}

  Array<T, 5, Space> factors;
  index_t row_count = 0, col_count = 0;
  Strides first = Strides::increasing;

  index_t batch() const { return factors.extent(0); }
  index_t rows() const { return row_count; }
  index_t cols() const { return col_count; }
  /// N, the size of the factors.
  index_t size() const { return view().size(); }
  index_t stages() const { return view().stages(); }
  index_t stored() const { return factors.size(); }

  ButterflyView<T, Space> view() const { return {factors.view(), row_count, col_count, first}; }
};

/// Copies on the device and on the host. Blocking. Throw NotAvailable, BackendError.
template <Scalar T>
Butterfly<T, space::cuda> to_device(const Butterfly<T>& m) {
  Butterfly<T, space::cuda> d;
  d.factors = to_device(m.factors);
  d.row_count = m.row_count;
  d.col_count = m.col_count;
  d.first = m.first;
  return d;
}
template <Scalar T>
Butterfly<T> to_host(const Butterfly<T, space::cuda>& m) {
  Butterfly<T> h;
  h.factors = to_host(m.factors);
  h.row_count = m.row_count;
  h.col_count = m.col_count;
  h.first = m.first;
  return h;
}

/// M_ij of one batch entry: column j through all factors. Cost: O(N stages log N), workspace N.
/// Accuracy: componentwise, that of apply. Throws ShapeError.
template <Scalar T>
T entry(const ButterflyView<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := M. dense: (batch, m, n) out, any strides. Cost: n products. Throws ShapeError.
template <Scalar T>
void to_dense(const ButterflyView<T>& m, View<T, 3> dense);

/// The same on a device: enqueued on e.stream, neither allocated nor synchronised; dense: any strides
/// but 0. One stage: each entry is the product of two numbers from tables of 2 N sqrt(N) in the workspace, of
/// log2 N factors in all (what is not finite reaches the entries that it is a factor of); several
/// stages: n products, 256 at a time. Workspace: to_dense_workspace_bytes. Throws ShapeError, DomainError
/// (workspace), Unsupported (broadcast result), NotAvailable, BackendError.
template <Scalar T>
void to_dense(const exec::cuda& e, const ButterflyView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);
template <Scalar T>
index_t to_dense_workspace_bytes(const ButterflyView<T, space::cuda>& m);

}  // namespace structmat
