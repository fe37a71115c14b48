/// \file
/// Trees of boxes over nodes in the plane.
#pragma once

#include <complex>
#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::cauchy::multipole {

struct Bounds {
  double low_re = 0, high_re = 0, low_im = 0, high_im = 0;

  bool meets(const Bounds& b) const {
    return low_re <= b.high_re && b.low_re <= high_re && low_im <= b.high_im && b.low_im <= high_im;
  }
};

struct Disc {
  double re = 0, im = 0, radius = 0;
};

struct Box {
  Disc disc;                   ///< of radius zero exactly where all nodes are equal
  index_t begin = 0, end = 0;  ///< its nodes
  index_t first_child = 0;
  int children = 0;
  bool extreme = false;  ///< a leaf with differences that cannot be squared without scaling

  bool leaf() const { return children == 0; }
  index_t size() const { return end - begin; }
};

/// Halves the smallest rectangle around the nodes along its longer side (and along the other one
/// where that is nearly as long), and so on, until a box has few nodes or equal ones. Boxes are
/// numbered by level, the root first; nodes are sorted by leaf.
class Tree {
 public:
  /// Nodes are finite and at most 2^1000.
  template <RealScalar R>
  Tree(View<const std::complex<R>, 1> nodes, index_t capacity, int team);

  index_t size() const { return static_cast<index_t>(order_.size()); }
  /// None where there are no nodes.
  const std::vector<Box>& boxes() const { return boxes_; }
  /// The smallest rectangle around the nodes of each box.
  const std::vector<Bounds>& bounds() const { return bounds_; }
  /// Level l is the boxes levels()[l] <= b < levels()[l + 1].
  const std::vector<index_t>& levels() const { return levels_; }

  const double* re() const { return re_.data(); }
  const double* im() const { return im_.data(); }
  /// The number that the caller knows each node by.
  const index_t* order() const { return order_.data(); }

 private:
  void split_all(index_t capacity, int team);

  Array<double, 1> re_, im_;
  Array<index_t, 1> order_;
  std::vector<Box> boxes_;
  std::vector<Bounds> bounds_;
  std::vector<index_t> levels_{0};
};

}  // namespace structmat::cauchy::multipole
