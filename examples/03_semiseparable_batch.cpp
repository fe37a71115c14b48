// A batch of semiseparable matrices from arrays that somebody else owns: four heads that share c
// and b, as the heads of a group do in a state-space model, and differ in their decay.
#include <cmath>
#include <cstdio>
#include <structmat/structmat.hpp>

using namespace structmat;

int main() {
  const index_t heads = 4, n = 300, order = 3, columns = 5;
  Array<double, 3> c({1, n, order}), b({1, n, order}), x({heads, n, columns}), z(x.extents());
  Array<double, 2> decay({heads, 1});
  for (index_t i = 0; i < c.size(); ++i) c.data()[i] = std::sin(0.7 * double(i));
  for (index_t i = 0; i < b.size(); ++i) b.data()[i] = std::cos(1.3 * double(i));
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.11 * double(i * i % 997));
  for (index_t i = 0; i < z.size(); ++i) z.data()[i] = std::cos(0.13 * double(i * i % 991));
  for (index_t h = 0; h < heads; ++h) decay(h, 0) = 1 - 0.1 * double(h);

  // Nothing is copied: extent 1 is repeated with stride 0, along the batch for c and b, along n for
  // a.
  SemiseparableView<double, transition::Scalar> m;
  m.c = View<const double, 3>(c.view()).broadcast(0, heads);
  m.b = View<const double, 3>(b.view()).broadcast(0, heads);
  m.a = View<const double, 2>(decay.view()).broadcast(1, n);

  Array<double, 3> y(x.extents()), w(x.extents());
  apply(exec::cpu{}, m, x, y);            // y_h = M_h x_h, five right-hand sides each
  apply_transpose(exec::cpu{}, m, z, w);  // w_h = M_h^T z_h

  // An entry from the definition, c_i^T a^(i-j) b_j, against the library's.
  const index_t i = 40, j = 25, h = 2;
  double dot = 0;
  for (index_t l = 0; l < order; ++l) dot += c(0, i, l) * b(0, j, l);
  const double exact = dot * std::pow(decay(h, 0), double(i - j));
  const double entry_error = std::abs(entry(m, i, j, h) - exact) / std::abs(exact);

  // <M x, z> = <x, M^T z>; for real matrices the adjoint is the transpose.
  double left = 0, right = 0, scale = 0;
  for (index_t k = 0; k < x.size(); ++k) {
    left += y.data()[k] * z.data()[k];
    right += x.data()[k] * w.data()[k];
    scale += std::abs(y.data()[k] * z.data()[k]);
  }
  Array<double, 3> adjoint(x.extents());
  apply_adjoint(exec::cpu{}, m, z, adjoint);
  const bool equal = std::equal(w.begin(), w.end(), adjoint.begin());

  const double gap = std::abs(left - right) / scale;
  std::printf("entry: error %.1e; <Mx, z> - <x, M^T z>: %.1e; adjoint %s\n", entry_error, gap,
              equal ? "equals transpose" : "DIFFERS");
  return entry_error < 1e-13 && gap < 1e-13 && equal ? 0 : 1;
}
