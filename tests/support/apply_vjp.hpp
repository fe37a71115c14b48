/// \file
/// Checks of apply_vjp for rectangular operators of any family.
#pragma once

#include "support/battery.hpp"
#include "support/gradient.hpp"

namespace structmat::test {

/// Re <y_bar, op(M) x> from the entries.
template <class M, Scalar T>
double product_loss(const M& m, Op op, const Array<T, 3>& x, const Array<T, 3>& y_bar) {
  const Array<T, 3> dense = m.to_dense();
  double sum = 0;
  for (index_t b = 0; b < y_bar.extent(0); ++b) {
    const index_t mb = m.batch() == 1 ? 0 : b, xb = x.extent(0) == 1 ? 0 : b;
    for (index_t i = 0; i < y_bar.extent(1); ++i) {
      for (index_t j = 0; j < x.extent(1); ++j) {
        for (index_t c = 0; c < x.extent(2); ++c) {
          const T y = op_entry(op, dense.view(), mb, i, j) * x(xb, j, c);
          sum += std::real(conjugate(y_bar(b, i, c)) * y);
        }
      }
    }
  }
  return sum;
}

/// apply_vjp against central differences. m: double or complex<double>; zero_like(m): a matrix of
/// zero parameters; Cotangent: made of one; for_each(m, bar, f): f(name, parameter array, its bar).
/// x_batch: 1 or the batch; gradients start from ones, to which they must be added.
template <class Cotangent, class M, class ForEach>
void check_apply_vjp(M m, index_t x_batch, index_t k, unsigned seed, const ForEach& for_each) {
  using T = typename M::value_type;
  Random random(seed);
  const index_t batch = m.batch() == 1 ? x_batch : m.batch();
  const auto minus_one = [](auto& a) {
    for (T& v : a) v -= T{1};
  };
  for (const Op op : all_ops) {
    const index_t in = op == Op::none ? m.cols() : m.rows();
    const index_t out = op == Op::none ? m.rows() : m.cols();
    INFO("op " << int(op) << ", " << m.rows() << " x " << m.cols() << ", batch " << m.batch()
               << " and " << x_batch << ", k " << k);
    auto x = random.array<T, 3>({x_batch, in, k});
    const auto y_bar = random.array<T, 3>({batch, out, k});
    M bar = m;
    for_each(m, bar, [](const char*, auto&, auto& b) {
      for (T& v : b) v = T{1};
    });
    Array<T, 3> x_bar(x.extents());
    for (T& v : x_bar) v = T{1};
    apply_vjp(exec::cpu{}, m.view(), op, std::as_const(x).view(), y_bar.view(), Cotangent(bar),
              x_bar.view());
    minus_one(x_bar);
    const auto loss = [&] { return product_loss(m, op, x, y_bar); };
    for_each(m, bar, [&](const char* name, auto& parameter, auto& b) {
      minus_one(b);
      check_gradient(name, parameter, b, loss);
    });
    check_gradient("x", x, x_bar, loss);
  }
}

}  // namespace structmat::test
