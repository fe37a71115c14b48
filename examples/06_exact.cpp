// Orders in exact arithmetic: they depend on the field; inverses keep them; theorems can be run.
#include <cstdio>
#include <structmat/exact/lemmas.hpp>
#include <structmat/exact/quasiseparable.hpp>
#include <structmat/exact/rank_profile.hpp>

using namespace structmat;
using namespace structmat::exact;

int main() {
  // The lower left block has determinant -5.
  const auto m = Matrix<RationalField>::from_integers(
      {}, {{1, 0, 0, 0}, {0, 1, 0, 0}, {1, 2, 1, 0}, {3, 1, 0, 1}});
  const auto over_q = rank_profile(m, {.deterministic = true});
  const auto modulo_5 = rank_profile(Matrix<PrimeField>::from_integers(
      PrimeField(5), {{1, 0, 0, 0}, {0, 1, 0, 0}, {1, 2, 1, 0}, {3, 1, 0, 1}}));
  std::printf("order %d over Q, %d modulo 5\n", int(over_q.ranks.order.lower),
              int(modulo_5.order.lower));

  // Through generators: the cyclic shift has no regular leading minor but the last.
  const auto cyclic = from_dense(Matrix<RationalField>::from_integers(
      {}, {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}));
  const auto inverse_of = inverse(cyclic);
  const bool identity = inverse_of && to_dense(multiply(cyclic, *inverse_of)) ==
                                          Matrix<RationalField>::identity({}, 4);
  std::printf("inverse: %s, order (%d, %d) like the matrix\n", identity ? "exact" : "WRONG",
              inverse_of ? int(inverse_of->order().lower) : -1,
              inverse_of ? int(inverse_of->order().upper) : -1);

  bool all = true;
  for (const Lemma& lemma : lemmas()) all = all && lemma.run(LemmaField::rational).holds;
  std::printf("%zu lemmas over Q: %s\n", lemmas().size(), all ? "all hold" : "ONE FAILS");

  return over_q.proved && over_q.ranks.order.lower == 2 && modulo_5.order.lower == 1 && identity &&
                 inverse_of->order() == cyclic.order() && all
             ? 0
             : 1;
}
