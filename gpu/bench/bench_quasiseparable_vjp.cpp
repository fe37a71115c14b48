// Reverse mode of y := M x for quasiseparable M, against the floor of memory: generators, x and y_bar read
// once, all cotangents read and written once, which is three times the floor of apply.
//
// What to expect, one right-hand side, both triangles, order r, double, at 4.0 TB/s:
//   dense, n = 1e6, r = 8. Floor 3896 bytes a row, 0.97 ms; target 3 times that. Summaries 1160 twice;
//     phase 3 forward 1160 twice, back 1300 of which most are cached, cotangents 2600: 7240 bytes, 1.8 ms.
//   diagonal, n = 524288, r = 16: 2 16 72 + 56 = 2360 bytes a row, 0.31 ms. Summaries 1024, phase 3 512
//     and 768, of which 512 may be cached, and 1536: 3840 bytes, 0.5 ms.
#include "bench/measure.hpp"
#include "bench/random_quasiseparable.hpp"
#include "structmat/quasiseparable/apply_vjp.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

/// A matrix and its cotangents.
template <class T, class K>
struct Operands {
  Quasiseparable<T, K, space::cuda> m, bar;
};

template <class T, class K>
void add(const Context& context, std::vector<Row>& rows, index_t n, index_t r, index_t k,
         double target_of_floor = 0) {
  const auto x = random<T, 3>({1, n, k}, 50), y_bar = random<T, 3>({1, n, k}, 51);
  auto x_bar = random<T, 3>({1, n, k}, 52);
  const auto operands = [&](unsigned set) {
    return Operands<T, K>{random_matrix<T, K>(n, r, 1, 20 * set + 1),
                          random_matrix<T, K>(n, r, 1, 20 * set + 11)};
  };
  std::vector<Operands<T, K>> sets;
  sets.push_back(operands(0));
  const double bytes =
      static_cast<double>(3 * sets[0].m.stored() + 4 * x.size()) * static_cast<double>(sizeof(T));
  for (int set = 1; set < context.sets_for(bytes); ++set) {
    sets.push_back(operands(static_cast<unsigned>(set)));
  }
  Array<std::byte, 1, space::cuda> workspace({apply_vjp_workspace_bytes(sets[0].m.view(), k)},
                                             uninitialized);
  const auto call = [&](const Operands<T, K>& set,
                        const QuasiseparableCotangent<T, K, space::cuda>& bar,
                        const View<T, 3, space::cuda>& to) {
    apply_vjp(exec::cuda{context.stream(), workspace}, set.m.view(), Op::none, x.view(),
              y_bar.view(), bar, to);
  };
  Row row;
  row.name = std::string(dtype_name<T>()) + " " + K::name + " n=" + std::to_string(n) +
             " r=" + std::to_string(r) + " k=" + std::to_string(k);
  row.ours_ms = context.time_graph(static_cast<int>(sets.size()), [&](int i) {
    auto& set = sets[static_cast<std::size_t>(i)];
    call(set, QuasiseparableCotangent<T, K, space::cuda>(set.bar), x_bar.view());
  });
  row.floor_ms = bytes / context.copy_rate();
  if (target_of_floor > 0) row.target_ms = target_of_floor * *row.floor_ms;
  if (n <= 100000) {
    // From zero, beside the CPU in double.
    const auto m = in_double(sets[0].m);
    Quasiseparable<double, K> bar(n, {r, r});
    auto there = to_device(Quasiseparable<T, K>(n, {r, r}));
    const auto x_here = in_double(x), y_bar_here = in_double(y_bar);
    apply_vjp(exec::cpu{}, m.view(), Op::none, x_here.view(), y_bar_here.view(),
              QuasiseparableCotangent<double, K>(bar), {});
    call(sets[0], QuasiseparableCotangent<T, K, space::cuda>(there), {});
    device_synchronize();
    const auto got = in_double(there);
    row.error = std::max({largest_error(got.p, bar.p), largest_error(got.q, bar.q),
                          largest_error(got.a, bar.a), largest_error(got.d, bar.d),
                          largest_error(got.g, bar.g), largest_error(got.h, bar.h),
                          largest_error(got.b, bar.b)});
  }
  rows.push_back(row);
}

template <class T>
void add_all(const Context& context, std::vector<Row>& rows) {
  using transition::Dense, transition::Diagonal, transition::Scalar;
  add<T, Dense>(context, rows, 1000000, 8, 1, 3);
  add<T, Dense>(context, rows, 100000, 8, 1);
  add<T, Dense>(context, rows, 100000, 16, 8);
  add<T, Diagonal>(context, rows, 524288, 8, 1);
  add<T, Diagonal>(context, rows, 524288, 16, 1, 3);
  add<T, Diagonal>(context, rows, 262144, 64, 1, 3);
  add<T, Scalar>(context, rows, 524288, 16, 1, 3);
  add<T, Scalar>(context, rows, 262144, 64, 1, 3);
  add<T, Diagonal>(context, rows, 16384, 16, 1);
  add<T, Diagonal>(context, rows, 4096, 16, 64);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "quasiseparable apply_vjp", [](Context& context, std::vector<Row>& rows) {
    add_all<double>(context, rows);
    add_all<float>(context, rows);
  });
}
