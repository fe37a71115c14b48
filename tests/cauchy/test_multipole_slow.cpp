#include "multipole_support.hpp"
#include "support/memory.hpp"

using namespace structmat;
using namespace structmat::test;

namespace {

using C = std::complex<double>;

/// Error and peak memory (MiB) of n nodes against n.
void check(const NodeSet<double>& set, double most_memory) {
  const auto n = static_cast<index_t>(set.s.size());
  Random random(3);
  const auto x = random.array<C, 2>({n, 1});
  Array<C, 2> y({n, 1});
  const bool known = restart_peak_memory();
  const double before = peak_memory();
  cauchy::Multipole<double>(view_of(set.s), view_of(set.t), 1e-12, Coincidence::skip)
      .apply(exec::cpu{}, x, y);
  INFO(set.name);
  if (known && !memory_is_instrumented) CHECK(peak_memory() - before <= most_memory);
  CHECK(error_of<double>(set, x.view(), std::as_const(y).view(), 20) <= allowed(1e-12));
}

}  // namespace

TEST_CASE("many nodes in little memory, however they lie") {
  const index_t n = 100000;
  // Two trees of 48 bytes a node while they are made; charges; 768 bytes for each box of 20 to 40
  // sources, and as many above them.
  const double most = 40;
  check(node_set<double>("square", n, n, [](index_t, Random& r) { return r.scalar<C>(); }), most);
  check(node_set<double>("cluster", n, n,
                         [](index_t i, Random& r) {
                           return i % 10000 == 0 ? r.scalar<C>()
                                                 : C(0.3, -0.2) + 1e-12 * r.scalar<C>();
                         }),
        most);
  check(node_set<double>("magnitudes", n, n,
                         [](index_t, Random& r) {
                           return std::polar(std::pow(10, 10 * r.real()),
                                             std::numbers::pi * r.real());
                         }),
        most);
  check(node_set<double>(
            "circle", n, n,
            [](index_t, Random& r) { return std::polar(1.0, std::numbers::pi * r.real()); }),
        most);
}
