/// \file
/// Operands of Cauchy sums on mapped roots of unity, checked; the same for both spaces.
#pragma once

#include <string>

#include "structmat/cauchy/roots_of_unity.hpp"
#include "structmat/core/operand.hpp"
#include "structmat/core/shape.hpp"

namespace structmat::cauchy {

/// The same matrices with batch extents 1 broadcast. Throws ShapeError, DomainError (L < 0).
template <ComplexScalar T, class Space>
MappedRootsView<T, Space> checked(const char* operation, const MappedRootsView<T, Space>& m,
                                  index_t batch = 1) {
  if (m.length < 0) {
    throw DomainError(std::string(operation) + ": the length is " + std::to_string(m.length));
  }
  detail::Shape shape(operation, batch);
  shape.require("poles", m.poles, {m.poles.extent(1)});
  const View<const real_t<T>, 2, Space> steps(m.dt.data(), {m.dt.extent(0), 1},
                                              {m.dt.stride(0), 1});
  shape.require("dt", steps, {1});
  return {m.poles.broadcast(0, shape.batch()), m.dt.broadcast(0, shape.batch()), m.length};
}

/// All operands of the sums, with the batch of the operation.
template <ComplexScalar T, class Space>
struct RootSums {
  MappedRootsView<T, Space> m;
  View<const T, 3, Space> v;
  index_t batch;

  RootSums(const char* operation, const MappedRootsView<T, Space>& matrix,
           const View<const T, 3, Space>& x, const View<T, 3, Space>& y)
      : m(checked(operation, matrix)) {
    batch = detail::check_operands(operation, m.poles.extent(0), m.length, m.poles.extent(1), x, y);
    m = checked(operation, matrix, batch);
    v = x.broadcast(0, batch);
  }
};

/// The same for reverse mode; cotangents with data() null are absent.
template <ComplexScalar T, class Space>
RootSums<T, Space> checked_vjp(const char* operation, const MappedRootsView<T, Space>& matrix,
                               const View<const T, 3, Space>& v,
                               const View<const T, 3, Space>& y_bar,
                               const View<T, 2, Space>& poles_bar, const View<T, 3, Space>& v_bar) {
  const RootSums<T, Space> o(operation, matrix, v,
                             View<T, 3, Space>(nullptr, y_bar.extents(), y_bar.strides()));
  const auto check = [&](const char* name, const auto& bar, const auto& extents) {
    if (bar.data() == nullptr) return;
    detail::Shape(operation, o.batch).require(name, bar, extents);
    if (overlaps(bar, v) || overlaps(bar, y_bar)) {
      throw DomainError(std::string(operation) + ": " + name + " overlaps an input in memory");
    }
  };
  const index_t n = o.m.poles.extent(1);
  check("poles_bar", poles_bar, std::array<index_t, 1>{n});
  check("v_bar", v_bar, std::array<index_t, 2>{n, v.extent(2)});
  return o;
}

}  // namespace structmat::cauchy
