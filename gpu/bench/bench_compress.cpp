// Compression of block generators to a fixed order on the device, and on the CPU of the same machine.
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdlib>

#include "bench/measure.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/compress.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

template <class T>
using OnDevice = Quasiseparable<T, transition::Block, space::cuda>;

/// ||M x - C x|| / ||M x|| for a random x.
template <class T>
double difference(const OnDevice<T>& m, const OnDevice<T>& c) {
  const auto x = bench::random<T, 3>({1, m.size(), 1}, 7);
  const auto product = [&](const OnDevice<T>& of) {
    Array<T, 3, space::cuda> y({1, m.size(), 1});
    Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(of, 1)});
    apply(exec::cuda{nullptr, workspace.view()}, of, Op::none, x.view(), y.view());
    return to_host(y);
  };
  const auto expected = product(m), found = product(c);
  double error = 0, norm = 0;
  for (index_t i = 0; i < m.size(); ++i) {
    error += std::norm(expected(0, i, 0) - found(0, i, 0));
    norm += std::norm(expected(0, i, 0));
  }
  return std::sqrt(error / norm);
}

/// States of 16 numbers, cut to 8. redundant: the matrix has order 8, so that nothing is lost.
template <class T>
void compare(Context& c, std::vector<Row>& rows, const char* type, index_t n, index_t block,
             bool redundant, bool with_cpu) {
  constexpr index_t order = 16, kept = 8;
  Quasiseparable<T, transition::Diagonal> generators(n, {order, order});
  const auto fill = [&](auto& array, unsigned seed, double scale, double shift) {
    const auto numbers = to_host(bench::random<T, 1>({array.size()}, seed));
    for (index_t i = 0; i < array.size(); ++i) {
      const index_t from = redundant ? i / order * order + i % kept : i;
      array.data()[i] = T(scale) * numbers(from) + T(shift);
    }
  };
  fill(generators.p, 1, 2, 0), fill(generators.q, 2, 2, 0), fill(generators.a, 3, 0.1, 0.9);
  fill(generators.g, 4, 2, 0), fill(generators.h, 5, 2, 0), fill(generators.b, 6, 0.1, 0.9);
  const auto m = quasiseparable::to_block(generators, block);
  const auto there = to_device(m);
  auto result = quasiseparable::block_zeros_on_device(there, {kept, kept});
  Array<quasiseparable::TruncationReport, 1, space::cuda> reports({1});
  Array<std::byte, 1, space::cuda> workspace(
      {quasiseparable::compress_workspace_bytes(there, {kept, kept})});
  Row row;
  row.name = std::string("compress ") + type + " n=" + std::to_string(n) + " 16 -> 8, blocks of " +
             std::to_string(block) + (redundant ? ", redundant" : "");
  row.ours_ms = c.time_graph(2, [&](int) {
    quasiseparable::compress(exec::cuda{c.stream(), workspace.view()}, there,
                             quasiseparable::CompressOptions::Form::input_normal, result,
                             reports.view());
  });
  row.floor_ms = double(m.stored() + to_host(result).stored()) * sizeof(T) / c.copy_rate();
  if (redundant) row.error = difference(there, result);
  if (with_cpu) {
    const auto begin = std::chrono::steady_clock::now();
    const auto on_cpu = quasiseparable::compress(m, {.order = Order{kept, kept}});
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    row.peer = "our CPU route";
    row.peer_ms = time.count();
  }
  rows.push_back(row);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Compression of generators", [](Context& c, std::vector<Row>& rows) {
    const bool with_cpu = std::getenv("STRUCTMAT_NO_CPU") == nullptr;
    compare<double>(c, rows, "double", 100000, 16, false, with_cpu);
    compare<double>(c, rows, "double", 100000, 16, true, false);
    compare<double>(c, rows, "double", 100000, 32, false, false);
    compare<double>(c, rows, "double", 100000, 64, false, false);
    compare<float>(c, rows, "float", 100000, 16, false, false);
  });
}
