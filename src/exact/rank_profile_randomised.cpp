#include <algorithm>

#include "exact/reversed_triangle.hpp"

namespace structmat::exact {
namespace {

using detail::Modular;
using detail::ReversedTriangle;

/// The first block of the triangle that is of rank s at least, as seen through s random
/// combinations of its rows and of its columns.
class Projection {
 public:
  Projection(const Matrix<PrimeField>& m, Part part, index_t s, Engine& engine)
      : triangle_(m, part, Blocks::strict), modular_(m.field()), s_(s) {
    for (auto* list : {&g_, &h_}) {
      for (index_t i = 0; i < m.rows() * s; ++i) {
        list->push_back(modular_.centred(m.field().random(engine)));
      }
    }
    lh_.resize(g_.size());
    ltg_.resize(g_.size());
    multiply();
  }

  std::optional<index_t> violation() {
    const index_t n = triangle_.size();
    std::vector<double> projected(static_cast<std::size_t>(s_ * s_));
    for (index_t k = 1; k < n; ++k) {
      const index_t t = n - k;  // row k - 1
      modular_.subtract_product(s_, s_, 1, g_.data() + t * s_, 1, lh_.data() + t * s_, s_,
                                projected.data(), s_);
      modular_.subtract_product(s_, s_, 1, ltg_.data() + (k - 1) * s_, 1, h_.data() + (k - 1) * s_,
                                s_, projected.data(), s_);
      std::vector<double> work = projected;
      if (modular_.eliminate(s_, s_, work.data(), s_).rank() == s_) return k;
    }
    return std::nullopt;
  }

 private:
  /// lh_ := L H and ltg_ := -L^T G. Rows of G and L H are counted from the last one.
  void multiply() {
    constexpr index_t panel = 128, chunk = 256;
    const index_t n = triangle_.size();
    std::vector<double> piece(panel * chunk), transposed(panel * chunk);
    for (index_t begin = 0; begin < n; begin += panel) {
      const index_t end = std::min(begin + panel, n), width = end - begin;
      for (index_t t0 = 0; t0 < n - begin; t0 += chunk) {
        const index_t t1 = std::min(t0 + chunk, n - begin), height = t1 - t0;
        triangle_.load(t0, t1, begin, end, piece.data());
        for (index_t t = 0; t < height; ++t) {
          for (index_t j = 0; j < width; ++j) transposed[j * height + t] = piece[t * width + j];
        }
        modular_.subtract_product(height, s_, width, piece.data(), width, h_.data() + begin * s_,
                                  s_, lh_.data() + t0 * s_, s_);
        modular_.subtract_product(width, s_, height, transposed.data(), height, g_.data() + t0 * s_,
                                  s_, ltg_.data() + begin * s_, s_);
      }
    }
    for (double& x : lh_) x = -x;
  }

  ReversedTriangle triangle_;
  Modular modular_;
  index_t s_;
  std::vector<double> g_, h_, lh_, ltg_;  // (n, s) each
};

}  // namespace

Verdict randomised(const Matrix<PrimeField>& m, Order order, std::uint64_t seed) {
  detail::require_square("exact::randomised", m);
  if (order.lower < 0 || order.upper < 0) {
    throw DomainError("exact::randomised: the order asked for is (" + std::to_string(order.lower) +
                      ", " + std::to_string(order.upper) + "), it must not be negative");
  }
  Engine engine(seed);
  Verdict verdict;
  for (const auto& [part, asked] :
       {std::pair{Part::lower, order.lower}, std::pair{Part::upper, order.upper}}) {
    if (asked >= m.rows() / 2) continue;  // no block has a larger rank
    const index_t s = asked + 1;
    verdict.failure_probability = std::max(
        verdict.failure_probability, std::min(1.0, 2 * double(s) / double(m.field().prime())));
    if (const auto k = Projection(m, part, s, engine).violation()) {
      return {false, Verdict::Violation{part, *k, s}, 0};
    }
  }
  return verdict;
}

}  // namespace structmat::exact
