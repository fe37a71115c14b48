#include "vandermonde/node_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/instantiate.hpp"

namespace structmat::vandermonde {

namespace {

/// Products of distances as mantissa and power of two: they leave the range for some hundred nodes.
struct Scaled {
  double mantissa = 1;
  long exponent = 0;

  void multiply(double factor) {
    int e = 0;
    mantissa = std::frexp(mantissa * std::frexp(factor, &e), &exponent_step);
    exponent += e + exponent_step;
  }
  bool operator<(const Scaled& other) const {
    if (mantissa == 0 || other.mantissa == 0) return mantissa < other.mantissa;
    return exponent != other.exponent ? exponent < other.exponent : mantissa < other.mantissa;
  }

 private:
  int exponent_step = 0;
};

template <Scalar T>
double modulus(const T& x) {
  if constexpr (is_complex_v<T>) {
    return std::hypot(double(x.real()), double(x.imag()));
  } else {
    return std::abs(double(x));
  }
}

template <Scalar T>
std::vector<index_t> leja(const View<const T, 1>& nodes) {
  const index_t n = nodes.extent(0);
  std::vector<index_t> order(n);
  std::iota(order.begin(), order.end(), index_t{0});
  if (n == 0) return order;
  std::iter_swap(order.begin(),
                 std::max_element(order.begin(), order.end(), [&](index_t i, index_t j) {
                   return modulus(nodes(i)) < modulus(nodes(j));
                 }));
  std::vector<Scaled> distance(n);
  for (index_t next = 1; next < n; ++next) {
    index_t best = next;
    for (index_t i = next; i < n; ++i) {
      distance[order[i]].multiply(modulus(nodes(order[i]) - nodes(order[next - 1])));
      if (distance[order[best]] < distance[order[i]]) best = i;
    }
    std::swap(order[next], order[best]);
  }
  return order;
}

}  // namespace

template <Scalar T>
NodeOrder resolved(NodeOrder order, const View<const T, 1>& nodes) {
  if (order != NodeOrder::automatic) return order;
  if constexpr (is_complex_v<T>) {
    return NodeOrder::leja;
  } else {
    bool positive = true, negative = true;
    for (index_t i = 0; i < nodes.extent(0); ++i) {
      positive = positive && nodes(i) >= 0;
      negative = negative && nodes(i) <= 0;
    }
    return positive || negative ? NodeOrder::by_modulus : NodeOrder::leja;
  }
}

template <Scalar T>
std::vector<index_t> ordered(NodeOrder order, const View<const T, 1>& nodes) {
  const NodeOrder taken = resolved(order, nodes);
  if (taken == NodeOrder::leja) return leja(nodes);
  std::vector<index_t> result(nodes.extent(0));
  std::iota(result.begin(), result.end(), index_t{0});
  if (taken == NodeOrder::by_modulus) {
    std::stable_sort(result.begin(), result.end(),
                     [&](index_t i, index_t j) { return modulus(nodes(i)) < modulus(nodes(j)); });
  }
  return result;
}

#define STRUCTMAT_INSTANTIATE(T)                                      \
  template NodeOrder resolved<T>(NodeOrder, const View<const T, 1>&); \
  template std::vector<index_t> ordered<T>(NodeOrder, const View<const T, 1>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::vandermonde
