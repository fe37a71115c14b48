#include <structmat/exact/rank.hpp>
#include <structmat/exact/rank_profile.hpp>

// The block [1 2; 3 1] has determinant -5.
int main() {
  using namespace structmat::exact;
  const std::vector<std::vector<std::int64_t>> rows{
      {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 0, 0}, {3, 1, 0, 0}};
  const auto rational = Matrix<RationalField>::from_integers({}, rows);
  const auto modular = Matrix<PrimeField>::from_integers(PrimeField(5), rows);
  return rank(rational) == 2 && rank_profile(modular).order.lower == 1 ? 0 : 1;
}
