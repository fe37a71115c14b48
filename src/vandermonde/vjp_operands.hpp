/// \file
/// What apply_vjp takes, checked; the same for both kinds of matrices and both spaces.
#pragma once

#include <string>

#include "structmat/core/error.hpp"
#include "structmat/core/op.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

namespace structmat::vandermonde {

/// Nodes, or poles.
template <Scalar T, class Space>
const View<const T, 2, Space>& nodes_of(const VandermondeView<T, Space>& m) {
  return m.x;
}
template <Scalar T, class Space>
const View<const T, 2, Space>& nodes_of(const LogVandermondeView<T, Space>& m) {
  return m.a;
}

/// Operands of reverse mode of y = op(A) x; m and x with the batch of the operation. Y: the scalars
/// of y.
template <class V, class T, class Y, class Space>
struct VjpOperands {
  V m;
  View<const T, 3, Space> x;
  View<const Y, 3, Space> y_bar;
  index_t batch = 0, nodes = 0;

  /// Throws ShapeError, DomainError (overlap); absent cotangents have data() null.
  VjpOperands(const char* operation, const V& matrix, Op op, const View<const T, 3, Space>& in,
              const View<const Y, 3, Space>& out_bar, const View<T, 2, Space>& node_bar,
              const View<T, 3, Space>& x_bar)
      : operation_(operation) {
    const index_t own = checked(matrix, operation).batch();
    const bool plain = op == Op::none;
    const index_t rows = plain ? matrix.rows() : matrix.cols();
    const index_t cols = plain ? matrix.cols() : matrix.rows();
    require("x", in.extent(1), cols);
    require("y_bar", out_bar.extent(1), rows);
    require("columns of y_bar", out_bar.extent(2), in.extent(2));
    batch = own == 1 ? in.extent(0) : own;
    if (in.extent(0) != 1) require("batch of x", in.extent(0), batch);
    require("batch of y_bar", out_bar.extent(0), batch);
    m = checked(matrix, operation, batch);
    x = in.broadcast(0, batch);
    y_bar = out_bar;
    nodes = nodes_of(m).extent(1);
    if (node_bar.data() != nullptr) {
      require("node_bar", node_bar.extent(1), nodes);
      if (node_bar.extent(0) != 1) require("batch of node_bar", node_bar.extent(0), batch);
      refuse_overlap("node_bar", node_bar, in);
    }
    if (x_bar.data() != nullptr) {
      require("x_bar", x_bar.extent(1), cols);
      require("columns of x_bar", x_bar.extent(2), in.extent(2));
      if (x_bar.extent(0) != 1) require("batch of x_bar", x_bar.extent(0), batch);
      refuse_overlap("x_bar", x_bar, in);
      if (node_bar.data() != nullptr && overlaps(node_bar, x_bar)) {
        throw DomainError(std::string(operation) + ": node_bar and x_bar overlap in memory");
      }
    }
  }

 private:
  void require(const char* what, index_t got, index_t expected) const {
    if (got == expected) return;
    throw ShapeError(std::string(operation_) + ": " + what + " has extent " + std::to_string(got) +
                     ", expected " + std::to_string(expected));
  }
  template <class Bar>
  void refuse_overlap(const char* what, const Bar& bar, const View<const T, 3, Space>& in) const {
    if (overlaps(bar, in) || overlaps(bar, y_bar)) {
      throw DomainError(std::string(operation_) + ": " + what + " overlaps an input in memory");
    }
  }

  const char* operation_;
};

}  // namespace structmat::vandermonde
