// Block generators of blocks of r rows and states of size r, and generators to dense.
//
// What to expect at 4.2 TB/s:
//   apply, n = 524288, r = 8, double: P, Q, A of both triangles and D are 7 r numbers a row, x and y two:
//     464 bytes a row, 243 MB, 0.058 ms; both phases read all but P and D: 0.10 ms.
//   to_dense, n = 16384, double: 2.15 GB written; a copy of as many bytes takes 0.51 ms.
#include "bench/measure.hpp"

#include <cmath>

#include "structmat/core/device.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/apply_vjp.hpp"
#include "structmat/quasiseparable/entry.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

template <class T>
Quasiseparable<T, transition::Block, space::cuda> block_matrix(index_t n, index_t r) {
  Quasiseparable<T, transition::Block> m;
  while (m.partition.rows() < n) {
    m.partition.offsets.push_back(std::min(n, m.partition.rows() + r));
  }
  std::vector<index_t> states(m.partition.offsets.size(), r);
  states.front() = states.back() = 0;
  m.lower = BlockTriangle<T>(m.partition, states);
  m.upper_transposed = BlockTriangle<T>(m.partition, states);
  m.diagonal = BlockDiagonal<T>(m.partition);
  // Transitions of norm below 1.
  unsigned bits = 1;
  const auto fill = [&](Array<T, 2>& a, double scale) {
    for (T& v : a) {
      bits = bits * 1664525u + 1013904223u;
      v = T(scale * (static_cast<double>(bits >> 8) / (1 << 24) - 0.5));
    }
  };
  for (auto* t : {&m.lower, &m.upper_transposed}) {
    fill(t->all_p(), 1), fill(t->all_q(), 1);
    fill(t->all_a(), 1.5 / std::sqrt(static_cast<double>(r)));
  }
  fill(m.diagonal.all(), 1);
  return to_device(m);
}

template <class T>
std::string named(const char* what, index_t n, index_t r) {
  return std::string(what) + " " + std::string(dtype_name<T>()) + " n=" + std::to_string(n) +
         " r=" + std::to_string(r);
}

template <class T>
void add_apply(const Context& context, std::vector<Row>& rows, index_t n, index_t r, index_t k) {
  const auto m = block_matrix<T>(n, r);
  const auto x = random<T, 3>({1, n, k}, 3);
  Array<T, 3, space::cuda> y({1, n, k});
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(m, k)}, uninitialized);
  Row row;
  row.name = named<T>("block apply", n, r) + " k=" + std::to_string(k);
  row.ours_ms = context.time_graph(2, [&](int) {
    apply(exec::cuda{context.stream(), workspace}, m, Op::none, x.view(), y.view());
  });
  row.floor_ms = static_cast<double>((7 * r + 2 * k) * n) * sizeof(T) / context.copy_rate();
  rows.push_back(row);
}

/// Floor: operands read once, cotangents read and written.
template <class T>
void add_vjp(const Context& context, std::vector<Row>& rows, index_t n, index_t r, index_t k) {
  const auto m = block_matrix<T>(n, r);
  auto m_bar = block_matrix<T>(n, r);
  const auto x = random<T, 3>({1, n, k}, 3), y_bar = random<T, 3>({1, n, k}, 4);
  Array<T, 3, space::cuda> x_bar({1, n, k});
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(m, k)}, uninitialized);
  Row row;
  row.name = named<T>("block apply_vjp", n, r) + " k=" + std::to_string(k);
  row.ours_ms = context.time_graph(2, [&](int) {
    apply_vjp(exec::cuda{context.stream(), workspace}, m, Op::none, x.view(), y_bar.view(), &m_bar,
              x_bar.view());
  });
  row.floor_ms = static_cast<double>((21 * r + 4 * k) * n) * sizeof(T) / context.copy_rate();
  rows.push_back(row);
}

/// Written once; the rate of a copy counts both directions.
template <class M>
void add_to_dense(const Context& context, std::vector<Row>& rows, const char* kind, const M& m,
                  index_t r) {
  using T = typename M::value_type;
  const index_t n = m.size();
  Array<T, 3, space::cuda> dense({1, n, n}, uninitialized);
  Array<std::byte, 1, space::cuda> workspace({to_dense_workspace_bytes(m.view())}, uninitialized);
  Row row;
  row.name = named<T>((std::string("to_dense ") + kind).c_str(), n, r);
  row.ours_ms = context.time_graph(2, [&](int) {
    to_dense(exec::cuda{context.stream(), workspace}, m.view(), dense.view());
  });
  row.floor_ms = static_cast<double>(n * n) * sizeof(T) / context.copy_rate();
  rows.push_back(row);
}

template <class T, class K>
Quasiseparable<T, K, space::cuda> uniform(index_t n, index_t r) {
  Quasiseparable<T, K, space::cuda> m;
  m.p = random<T, 3>({1, n, r}, 1), m.q = random<T, 3>({1, n, r}, 2);
  m.g = random<T, 3>({1, n, r}, 3), m.h = random<T, 3>({1, n, r}, 4);
  m.d = random<T, 2>({1, n}, 5);
  const auto transitions = [&](unsigned seed) {
    auto here = to_host(random<T, 1>({n * (K::rank == 4 ? r * r : r)}, seed));
    // Dense: norms below 1.
    const T scale = K::rank == 4 ? T(1.5 / std::sqrt(static_cast<double>(r))) : T(1.9);
    for (T& v : here) v *= scale;
    Array<T, K::rank, space::cuda> there(transition::extents<K>(1, n, r), uninitialized);
    structmat::detail::copy_host_to_device(there.data(), here.data(), here.size() * sizeof(T));
    return there;
  };
  m.a = transitions(6), m.b = transitions(7);
  return m;
}

template <class T>
void add_all(const Context& context, std::vector<Row>& rows) {
  using transition::Dense, transition::Diagonal;
  for (const index_t k : {1, 8, 64}) add_apply<T>(context, rows, 131072, 8, k);
  add_apply<T>(context, rows, 524288, 8, 1);
  add_apply<T>(context, rows, 131072, 32, 1);
  add_apply<T>(context, rows, 131072, 32, 64);
  add_vjp<T>(context, rows, 131072, 8, 1);
  add_vjp<T>(context, rows, 131072, 8, 64);
  add_vjp<T>(context, rows, 131072, 32, 1);
  for (const index_t n : {4096, 16384}) {
    for (const index_t r : {8, 32}) {
      add_to_dense(context, rows, "diagonal", uniform<T, Diagonal>(n, r), r);
      add_to_dense(context, rows, "dense", uniform<T, Dense>(n, r), r);
      add_to_dense(context, rows, "block", block_matrix<T>(n, r), r);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "block generators, and generators to dense",
             [](Context& context, std::vector<Row>& rows) {
               add_all<double>(context, rows);
               add_all<float>(context, rows);
             });
}
