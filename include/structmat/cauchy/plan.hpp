/// \file
/// A Cauchy or Cauchy-like matrix prepared for many products: sorted nodes and trees.
#pragma once

#include <memory>

#include "structmat/cauchy/apply.hpp"
#include "structmat/core/export.hpp"

namespace structmat {

namespace cauchy {

/// How products are computed.
enum class Method {
  automatic,  ///< direct without a tolerance or below the measured crossover; else line or plane
  direct,     ///< pair by pair
  line,       ///< nodes on a line: interpolation on a binary tree
  plane       ///< complex nodes anywhere: the fast multipole method
};

struct PlanOptions {
  /// What a product may lose beside rounding, relative to sum_j |x_j| / |s_i - t_j|. 0: nothing, so
  /// that sums are taken pair by pair. Less than eps is taken as eps.
  double tolerance = 0;
  Method method = Method::automatic;
};

template <Scalar T>
struct PlanState;
template <Scalar T>
struct DevicePlanState;

}  // namespace cauchy

template <Scalar T, class Space = space::host>
class CauchyPlan;

/// A Cauchy or Cauchy-like matrix for many products y := op(C) x.
///
/// Whether `line` can serve is seen from the nodes: real ones, or complex ones of which all real or all
/// imaginary parts are equal. A plan copies what it needs and does not refer to the matrix; copies
/// share their state. Const use is safe from several threads at once.
///
/// Cost: line, O((m + n) log(1 / tolerance)) for the plan and for each column of a product, in time and
/// in memory; the radix sort of the nodes is about half of the time of a plan and one product. Plane:
/// the same order with a larger constant; transposed products build trees of their own the first
/// time. Cauchy-like: r columns for one.
/// Accuracy: |error_i| <= c (tolerance + log(m + n) eps) sum_j |g_i|^T|h_j| |x_j| / |s_i - t_j|, in
/// every row; direct: as apply.
/// Non-finite x may reach every output.
/// Throws ShapeError; DomainError where nodes coincide and that is an error, where a node is not
/// finite or so large that differences are not (line, plane), where nodes do not lie on a line that is
/// asked for, where the plane is asked for with real nodes, and for a fast method without a tolerance.
///
/// Source: Dutt, Gu, Rokhlin, "Fast algorithms for polynomial interpolation, integration and
/// differentiation", SIAM J. Numer. Anal. 33 (1996) (one-dimensional multipole method with Chebyshev
/// interpolation); Greengard, Rokhlin, "A fast algorithm for particle simulations", J. Comput. Phys. 73
/// (1987).
template <Scalar T>
class STRUCTMAT_EXPORT CauchyPlan<T, space::host> : public OperatorMembers<CauchyPlan<T>, T> {
 public:
  using value_type = T;

  explicit CauchyPlan(const CauchyView<T>& m, const cauchy::PlanOptions& options = {},
                      const exec::cpu& e = {});
  explicit CauchyPlan(const CauchyLikeView<T>& m, const cauchy::PlanOptions& options = {},
                      const exec::cpu& e = {});

  index_t batch() const;
  index_t rows() const;
  index_t cols() const;
  const CauchyPlan& view() const { return *this; }

  /// What was chosen: direct, line or plane.
  cauchy::Method method() const;

  const cauchy::PlanState<T>& state() const { return *state_; }

 private:
  std::shared_ptr<const cauchy::PlanState<T>> state_;
};

/// The same on a device, in memory of its own there. Const use is safe from several threads at once,
/// each with a workspace.
///
/// Making a plan sorts the nodes on the device and divides pairs of cells in 2 log2(m + n) rounds; it
/// allocates, uses the stream of `e` and waits for it. The tree, the pairs and the accuracy are those of
/// the CPU, with numbers of proxies that are multiples of 8.
/// Memory for each of m + n nodes: the node, its place and the inverse of that, 8 bytes each, and a share of the
/// cells and their lists: 24 to 28 bytes in single precision, 29 to 32 in double.
/// Methods: line and direct; nodes that do not lie on a line are summed pair by pair, and `plane` is
/// Unsupported.
/// Throws as the plan on the CPU; Unsupported beyond 2^31 cells of 32 to 64 nodes, NotAvailable,
/// BackendError.
template <Scalar T>
class STRUCTMAT_EXPORT CauchyPlan<T, space::cuda> {
 public:
  using value_type = T;

  explicit CauchyPlan(const CauchyView<T, space::cuda>& m, const cauchy::PlanOptions& options = {},
                      const exec::cuda& e = {});
  explicit CauchyPlan(const CauchyLikeView<T, space::cuda>& m,
                      const cauchy::PlanOptions& options = {}, const exec::cuda& e = {});

  index_t batch() const;
  index_t rows() const;
  index_t cols() const;
  const CauchyPlan& view() const { return *this; }

  /// What was chosen: direct or line.
  cauchy::Method method() const;

  const cauchy::DevicePlanState<T>& state() const { return *state_; }

 private:
  std::shared_ptr<const cauchy::DevicePlanState<T>> state_;
};

/// y := op(C) x by the method of the plan. x, y: as in apply for CauchyView; no overlap.
/// Workspace: O(m + n) numbers a column; plane: the expansions of all boxes.
/// Threads: over boxes; the result does not depend on them, bit for bit. Throws ShapeError, DomainError
/// (overlap).
template <Scalar T>
void apply(const exec::cpu& e, const CauchyPlan<T>& m, Op op, View<const T, 3> x, View<T, 3> y);

/// The same on a device: no allocation, no synchronisation, on the stream of `e`; it can be captured
/// in a graph. Workspace: as apply_workspace_bytes says.
///
/// x, y: any strides; y without stride 0. Line: 5 to 11 launches for each 16 real columns, where a
/// complex one is two and order r makes r of one; x and y are read and written once, in the order of
/// the nodes as given, other arrays are contiguous. Traffic beside x and y: about 300 bytes a node
/// and real column in double. The floor is the arithmetic: about 200 reciprocals a node.
/// The result of one batch entry does not depend on the others, and repeats bit for bit.
/// Throws ShapeError, DomainError (overlap, workspace too small), Unsupported (strides), NotAvailable,
/// BackendError.
template <Scalar T>
void apply(const exec::cuda& e, const CauchyPlan<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of workspace for k right-hand sides. Line: for each of at most max(16, r) real columns and each of
/// m + n nodes, 11 to 14 bytes in single precision at 1e-6, 21 to 28 in double at 1e-6 and 25 to 34 at
/// 1e-12; least where leaves are full.
template <Scalar T>
index_t apply_workspace_bytes(const CauchyPlan<T, space::cuda>& m, index_t k);

/// C_ij of one batch entry, and all of them, as for CauchyView and CauchyLikeView.
template <Scalar T>
T entry(const CauchyPlan<T>& m, index_t i, index_t j, index_t batch = 0);
template <Scalar T>
void to_dense(const CauchyPlan<T>& m, View<T, 3> dense);

}  // namespace structmat
