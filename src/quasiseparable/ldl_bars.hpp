/// \file
/// Where the reverse passes of the LDL factorisation put cotangents.
#pragma once

#include <string>

#include "quasiseparable/ldl_sweep.hpp"
#include "recurrence/checked_cotangent.hpp"
#include "structmat/core/error.hpp"
#include "structmat/recurrence/shape.hpp"

namespace structmat::quasiseparable {

using recurrence::entry_of;

/// Checks cotangents, which may be empty, against the extents of an operation and gives them its
/// batch. Throws ShapeError.
class Cotangents {
 public:
  Cotangents(const char* operation, index_t batch, index_t n)
      : operation_(operation), batch_(batch), n_(n) {}

  /// (1 or batch, n), (1 or batch, n, r) or (1 or batch, n, r, r).
  template <class V>
  V checked(const char* name, const V& view, index_t r) {
    if (view.data() == nullptr) return {};
    recurrence::Shape shape(operation_, batch_, n_);
    shape.require(name, view, r);
    if (shape.batch() != batch_) {
      throw ShapeError(std::string(operation_) + ": " + name + " has batch " +
                       std::to_string(view.extent(0)) + ", the operation has " +
                       std::to_string(batch_));
    }
    return view.broadcast(0, batch_);
  }
  /// The same for what is added to: with one place for the whole batch, entries must take turns.
  template <class V>
  V added(const char* name, const V& view, index_t r) {
    shared_ |= batch_ > 1 && view.data() != nullptr && view.extent(0) == 1;
    return checked(name, view, r);
  }

  bool shared() const { return shared_; }

 private:
  const char* operation_;
  index_t batch_, n_;
  bool shared_ = false;
};

/// Padded cotangents of a run of a triangle, and their way to where they are added.
template <Scalar T, transition::Uniform K>
class TriangleBarRows {
 public:
  TriangleBarRows(const UnitTriangle<T, K>& to, index_t n, index_t order)
      : out_(to.out, n, Layout<T>(order)),
        in_(to.in, n, Layout<T>(order)),
        a_(to.a, n, Layout<T>(order)) {}

  void clear() {
    out_.clear();
    in_.clear();
    a_.clear();
  }
  Run<real_t<T>> out() { return out_.rows(); }
  Run<real_t<T>> in() { return in_.rows(); }
  Run<real_t<T>> a() { return a_.rows(); }
  void add(index_t begin, index_t end) const {
    out_.add(begin, end);
    in_.add(begin, end);
    a_.add(begin, end);
  }

 private:
  ResultRows<T, 2> out_, in_;
  ResultRows<T, transition_dimensions<K>> a_;
};

}  // namespace structmat::quasiseparable
