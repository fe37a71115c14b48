// Operations that allocate and wait, all of them on something small: the same results each time.
#include <catch2/catch.hpp>

#include "structmat/cauchy/from_vandermonde.hpp"
#include "structmat/cauchy/plan.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/from_dense.hpp"
#include "structmat/toeplitz/circulant_solve.hpp"
#include "structmat/toeplitz/iterative.hpp"
#include "structmat/verify/batch.hpp"
#include "structmat/verify/randomised.hpp"
#include "support/battery.hpp"
#include "support/gpu.hpp"
#include "support/random.hpp"
#include "vandermonde/nodes.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

/// The numbers that run() returns, twice.
template <class Run>
void check_repeats(const Run& run) {
  const std::vector<double> first = run();
  CHECK_FALSE(first.empty());
  if (!once()) CHECK(run() == first);
}

template <class A>
std::vector<double> numbers(const A& a) {
  std::vector<double> all;
  for (const auto& v : a) {
    all.push_back(std::real(v));
    all.push_back(std::imag(v));
  }
  return all;
}

std::vector<double> numbers(const verify::Report& r) {
  std::vector<double> all{double(r.order.lower), double(r.order.upper), r.smallest_kept,
                          r.largest_dropped, r.frobenius_norm};
  all.insert(all.end(), r.lower.begin(), r.lower.end());
  all.insert(all.end(), r.upper.begin(), r.upper.end());
  return all;
}

/// Entries of a batch of matrices of order 2.
Array<double, 3> mixers(index_t batch, index_t n) {
  const auto m = random_quasiseparable<double, transition::Diagonal>(n, {2, 2}, batch, 1);
  Array<double, 3> entries({batch, n, n});
  to_dense(m.view(), entries.view());
  return entries;
}

}  // namespace

TEST_CASE("orders of dense matrices", "[core_waiting]") {
  const index_t n = 16;
  const auto batch = to_device(mixers(2, n));
  const View<const double, 2, space::cuda> one =
      View<const double, 3, space::cuda>(batch).select(0, 0);
  check_repeats([&] { return numbers(verify::quasiseparable(exec::cuda{}, one)); });
  check_repeats([&] { return numbers(verify::semiseparable(exec::cuda{}, one)); });
  check_repeats(
      [&] { return numbers(verify::quasiseparable(exec::cuda{}, batch).matrices.back()); });
  check_repeats(
      [&] { return numbers(verify::semiseparable(exec::cuda{}, batch).matrices.back()); });
  check_repeats([&] {
    const auto r = verify::randomised(exec::cuda{}, one, {.order = {2, 2}, .oversampling = 5});
    CHECK(r.verdict != verify::Verdict::violated);
    return std::vector<double>{r.detectable, r.frobenius_norm, r.drift};
  });
}

TEST_CASE("compression of a dense matrix", "[core_waiting]") {
  const auto batch = to_device(mixers(1, 40));
  check_repeats([&] {
    const auto result = quasiseparable::from_dense(
        exec::cuda{}, View<const double, 3, space::cuda>(batch).select(0, 0));
    CHECK(result.matrix.order() == Order{2, 2});
    return numbers(result.matrix.lower.all_p());
  });
}

TEST_CASE("conjugate gradients, plans, solvers", "[core_waiting]") {
  Random random(2);
  const index_t n = 40;
  Toeplitz<double> t(n, n);
  for (index_t l = 1 - n; l < n; ++l) t.lags(0, l + n - 1) = std::exp(-double(l * l) / 2);
  const auto there = to_device(t);
  const auto b = to_device(random.array<double, 3>({1, n, 1}));
  check_repeats([&] {
    Array<double, 3, space::cuda> x({1, n, 1});
    toeplitz::conjugate_gradients(exec::cuda{}, there.view(), b.view(), x.view());
    return numbers(to_host(x));
  });
  Circulant<double> c(n);
  random.fill(c.column);
  const auto circulant = to_device(c);
  check_repeats([&] {
    const CirculantSolver<double> solver({}, circulant.view());
    Array<std::byte, 1, space::cuda> workspace({solve_workspace_bytes(solver)});
    Array<double, 3, space::cuda> x({1, n, 1});
    CHECK(solve(exec::cuda{nullptr, workspace}, solver, Op::none, b.view(), x.view()).status.ok());
    return numbers(to_host(x));
  });
  const auto v = to_device(random_vandermonde<std::complex<double>>(n, n, 1, 3));
  check_repeats([&] {
    const auto like = cauchy::from_vandermonde(exec::cuda{}, v.view());
    return numbers(to_host(like.g));
  });
}
