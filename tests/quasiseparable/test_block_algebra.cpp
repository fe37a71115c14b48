#include "structmat/quasiseparable/block_algebra.hpp"

#include <catch2/catch.hpp>
#include <functional>

#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/entry.hpp"
#include "structmat/quasiseparable/to_block.hpp"
#include "support/battery.hpp"
#include "support/dense.hpp"

namespace {

using namespace structmat;
using namespace structmat::test;
using quasiseparable::Blocks;

/// Entry (b, i, j) of one result against expected(b, i, j), by the same map of the matrices of
/// absolute generators.
template <class T, class Expected>
void check_entries(const Blocks<T>& got, const Expected& expected, const Expected& bound,
                   double c) {
  const auto dense = got.to_dense();
  for (index_t b = 0; b < dense.extent(0); ++b) {
    for (index_t i = 0; i < dense.extent(1); ++i) {
      for (index_t j = 0; j < dense.extent(2); ++j) {
        INFO("entry " << b << ", " << i << ", " << j);
        CHECK(std::abs(Wide<T>(dense(b, i, j)) - expected(b, i, j)) <=
              c * double(epsilon<T>) * std::abs(bound(b, i, j)));
      }
    }
  }
}

template <class T>
using Entries = std::function<Wide<T>(index_t, index_t, index_t)>;

template <class T>
struct Pair {
  Blocks<T> x, y;
  Array<T, 3> dx, dy;
  Pair(Blocks<T> left, Blocks<T> right)
      : x(std::move(left)), y(std::move(right)), dx(x.to_dense()), dy(y.to_dense()) {}
  Wide<T> at(const Array<T, 3>& d, index_t b, index_t i, index_t j) const {
    return Wide<T>(d(d.extent(0) == 1 ? 0 : b, i, j));
  }
  Entries<T> sum(double sign) const {
    return [this, sign](index_t b, index_t i, index_t j) {
      return at(dx, b, i, j) + sign * at(dy, b, i, j);
    };
  }
  Entries<T> product() const {
    return [this](index_t b, index_t i, index_t j) {
      Wide<T> s{};
      for (index_t k = 0; k < x.size(); ++k) s += at(dx, b, i, k) * at(dy, b, k, j);
      return s;
    };
  }
  Entries<T> hadamard() const {
    return [this](index_t b, index_t i, index_t j) { return at(dx, b, i, j) * at(dy, b, i, j); };
  }
};

TEMPLATE_TEST_CASE("sums and products of block generators", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 9, 24}) {
    for (const bool same_partition : {true, false}) {
      INFO("n " << n << ", same partition " << same_partition);
      const Order rx{2, 1}, ry{1, 3};
      Blocks<T> y = random_block_quasiseparable<T>(n, ry, 2, 8);
      if (!same_partition) {
        y = quasiseparable::to_block(random_quasiseparable<T, transition::Dense>(n, ry, 2, 9), 4);
      }
      const Pair<T> pair(random_block_quasiseparable<T>(n, rx, same_partition ? 2 : 1, 7), y);
      const Pair<T> bound(absolute(pair.x), absolute(pair.y));
      const double c = 60 + 4 * double(n);

      const auto sum = quasiseparable::add(pair.x, pair.y);
      check_entries<T>(sum, pair.sum(1), bound.sum(1), c);
      check_entries<T>(quasiseparable::subtract(pair.x, pair.y), pair.sum(-1), bound.sum(1), c);
      const auto product = quasiseparable::multiply(pair.x, pair.y);
      check_entries<T>(product, pair.product(), bound.product(), c);
      const auto hadamard = quasiseparable::hadamard(pair.x, pair.y);
      check_entries<T>(hadamard, pair.hadamard(), bound.hadamard(), c);
      if (same_partition) {
        CHECK(sum.order().lower <= rx.lower + ry.lower);
        CHECK(product.order().upper <= rx.upper + ry.upper);
        CHECK(hadamard.order().upper <= rx.upper * ry.upper);
      }
    }
  }
}

TEMPLATE_TEST_CASE("scalings and transposes of block generators", "", float, std::complex<double>) {
  using T = TestType;
  const index_t n = 17;
  Random random(4);
  const auto m = random_block_quasiseparable<T>(n, {2, 3}, 2, 7);
  const auto dense = m.to_dense(), bound = absolute(m).to_dense();
  const auto left = random.array<T, 1>({n}), right = random.array<T, 1>({n});
  const T alpha = random.scalar<T>();
  const auto scaled = quasiseparable::scale(alpha, m).to_dense();
  const auto by_diagonals =
      quasiseparable::scale_diagonal<T>(left, m, right.view().reversed(0)).to_dense();
  const auto transposed = quasiseparable::transpose(m).to_dense();
  const auto adjoint = quasiseparable::adjoint(m).to_dense();
  for (index_t b = 0; b < 2; ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        const double near = 60 * double(epsilon<T>) * std::abs(bound(b, i, j));
        CHECK(std::abs(scaled(b, i, j) - alpha * dense(b, i, j)) <= near);
        CHECK(std::abs(by_diagonals(b, i, j) - left(i) * dense(b, i, j) * right(n - 1 - j)) <=
              near);
        CHECK(std::abs(transposed(b, j, i) - dense(b, i, j)) <= near);
        CHECK(std::abs(adjoint(b, j, i) - conjugate(dense(b, i, j))) <= near);
      }
    }
  }
}

TEST_CASE("sizes and batches that do not fit are refused by name") {
  const auto x = random_block_quasiseparable<double>(5, {1, 1}, 2, 7),
             y = random_block_quasiseparable<double>(6, {1, 1}, 2, 7),
             z = random_block_quasiseparable<double>(5, {1, 1}, 3, 7);
  CHECK(message_from<ShapeError>([&] { (void)quasiseparable::multiply(x, y); }) ==
        "quasiseparable::multiply: the left matrix is of size 5, the right one of size 6");
  CHECK(message_from<ShapeError>([&] { (void)quasiseparable::add(x, z); }) ==
        "quasiseparable::add: the left matrix has batch 2, the right one has 3");
  const Array<double, 1> five({5}), four({4});
  CHECK(message_from<ShapeError>([&] {
          (void)quasiseparable::scale_diagonal<double>(five, x, four);
        }) == "quasiseparable::scale_diagonal: right has 4 factors, the matrix is of size 5");
}

}  // namespace
