#include "structmat/vandermonde/plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "vandermonde/columns.hpp"
#include "vandermonde/evaluator.hpp"

namespace structmat {

namespace vandermonde {

namespace {

/// Nodes that are served by one evaluator.
template <RealScalar R>
struct Part {
  std::vector<index_t> nodes;
  index_t terms = 0;      // coefficients that count
  bool reversed = false;  // evaluated at 1 / x, with the coefficients from the last one on
  std::vector<std::complex<R>> scales;  // x^(n-1), where reversed
  bool direct = false;
  std::unique_ptr<Evaluator<R>> evaluator;
};

/// log x. Of numbers close to the circle, log|x| keeps its digits.
template <RealScalar R>
Polar polar(const std::complex<R>& x) {
  const long double re = x.real(), im = x.imag(), square = re * re + im * im;
  const bool close = square > 0.5L && square < 2;
  const long double radius =
      close ? std::log1p((re - 1) * (re + 1) + im * im) / 2 : std::log(square) / 2;
  const long double angle = std::atan2(im, re);
  const auto high = static_cast<double>(angle);
  return {static_cast<double>(radius), {high, static_cast<double>(angle - high)}};
}

/// Measured times in nanoseconds, for complex numbers: of a pair in Horner's rule; of a coefficient
/// and of a node in a nonuniform transform.
constexpr double horner_pair = 0.1, transform_coefficient = 30, transform_node = 25;

template <RealScalar R>
class Builder {
 public:
  using C = std::complex<R>;

  Builder(std::vector<C> nodes, index_t n, const PlanOptions& options)
      : nodes_(std::move(nodes)), n_(n), options_(options) {}

  std::vector<Part<R>> parts() {
    if (options_.method == Method::barycentric) {
      barycentric();
    } else {
      by_modulus();
    }
    return std::move(parts_);
  }

 private:
  bool is_regular(const C& x) const {
    return std::isfinite(x.real()) && std::isfinite(x.imag()) && n_ > 0;
  }

  void barycentric() {
    std::vector<index_t> sides[2], irregular;
    for (index_t i = 0; i < index_t(nodes_.size()); ++i) {
      if (!is_regular(nodes_[i])) {
        irregular.push_back(i);
      } else {
        sides[std::norm(std::complex<double>(nodes_[i])) > 1 ? 1 : 0].push_back(i);
      }
    }
    for (const bool reversed : {false, true}) {
      if (sides[reversed].empty()) continue;
      Part<R>& part = add(sides[reversed], n_, reversed);
      part.evaluator = barycentric_evaluator(arguments(part), n_, options_.tolerance);
    }
    add_direct(irregular, n_, false);
  }

  /// Nodes by side and by the power of two up to which coefficients count.
  void by_modulus() {
    const double decay = std::log(1 / options_.tolerance) + 2, n = static_cast<double>(n_);
    constexpr index_t few_terms = 128;
    std::vector<std::vector<index_t>> groups[2];
    std::vector<index_t> irregular, short_ones[2];
    polar_.resize(nodes_.size());
    for (index_t i = 0; i < index_t(nodes_.size()); ++i) {
      if (!is_regular(nodes_[i])) {
        irregular.push_back(i);
        continue;
      }
      Polar& p = polar_[i] = polar(nodes_[i]);
      const bool outside = p.radius * n > 1;
      if (outside) p = {-p.radius, -p.angle};
      const double distance = -p.radius;
      if (distance * static_cast<double>(few_terms) >= decay) {
        short_ones[outside].push_back(i);
        continue;
      }
      const int level =
          distance * n <= decay ? 0 : 1 + static_cast<int>(std::log2(distance * n / decay));
      auto& side = groups[outside];
      if (side.size() <= std::size_t(level)) side.resize(level + 1);
      side[level].push_back(i);
    }
    for (const bool reversed : {false, true}) {
      for (std::size_t level = 0; level < groups[reversed].size(); ++level) {
        const index_t terms = level == 0 ? n_ : std::min(n_, (n_ >> (level - 1)) + 1);
        add_group(groups[reversed][level], terms, reversed);
      }
      add_direct(short_ones[reversed], std::min(n_, few_terms + 1), reversed);
    }
    add_direct(irregular, n_, false);
  }

  void add_group(const std::vector<index_t>& members, index_t terms, bool reversed) {
    if (members.empty()) return;
    std::vector<Polar> polars;
    polars.reserve(members.size());
    for (const index_t i : members) polars.push_back(polar_[i]);
    const auto [low, high] =
        std::minmax_element(polars.begin(), polars.end(),
                            [](const Polar& a, const Polar& b) { return a.radius < b.radius; });
    const int circles = circle_count(low->radius, high->radius, terms, options_.tolerance);
    const auto count = static_cast<double>(members.size()), length = static_cast<double>(terms);
    if (options_.method == Method::automatic &&
        horner_pair * count * length <=
            circles * (transform_coefficient * length + transform_node * count)) {
      return add_direct(members, terms, reversed);
    }
    Part<R>& part = add(members, terms, reversed);
    part.evaluator = circles_evaluator<R>(polars, terms, circles, options_.tolerance);
  }

  void add_direct(const std::vector<index_t>& members, index_t terms, bool reversed) {
    if (members.empty()) return;
    // All terms: no need to turn around.
    Part<R>& part = add(members, terms, reversed && terms < n_);
    part.direct = true;
    part.evaluator = direct_evaluator(arguments(part), terms);
  }

  Part<R>& add(const std::vector<index_t>& members, index_t terms, bool reversed) {
    Part<R> part;
    part.nodes = members;
    part.terms = terms;
    part.reversed = reversed;
    if (reversed) {
      part.scales.reserve(part.nodes.size());
      for (const index_t i : part.nodes) {
        part.scales.emplace_back(power(std::complex<double>(nodes_[i]), n_ - 1).rounded());
      }
    }
    parts_.push_back(std::move(part));
    return parts_.back();
  }

  std::vector<C> arguments(const Part<R>& part) const {
    std::vector<C> result;
    result.reserve(part.nodes.size());
    for (const index_t i : part.nodes) {
      result.push_back(part.reversed ? C(1.0 / std::complex<double>(nodes_[i])) : nodes_[i]);
    }
    return result;
  }

  std::vector<C> nodes_;
  std::vector<Polar> polar_;
  index_t n_;
  PlanOptions options_;
  std::vector<Part<R>> parts_;
};

}  // namespace

template <Scalar T>
struct PlanState {
  Vandermonde<T> matrix;
  Method method = Method::direct;
  std::vector<std::vector<Part<real_t<T>>>> entries;  // for each batch entry; empty where direct
};

}  // namespace vandermonde

namespace {

using vandermonde::Method;

template <Scalar T>
using ComplexOf = std::complex<real_t<T>>;

template <Scalar T>
T narrowed(const ComplexOf<T>& v) {
  if constexpr (is_complex_v<T>) {
    return v;
  } else {
    return v.real();
  }
}

/// One column of V c.
template <Scalar T>
void evaluate(int threads, const std::vector<vandermonde::Part<real_t<T>>>& parts,
              const View<const T, 1>& c, const View<T, 1>& y) {
  using C = ComplexOf<T>;
  const index_t n = c.extent(0);
  for (const auto& part : parts) {
    std::vector<C> coefficients(part.terms), values(part.nodes.size());
    for (index_t j = 0; j < part.terms; ++j) coefficients[j] = c(part.reversed ? n - 1 - j : j);
    part.evaluator->evaluate(threads, coefficients.data(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      y(part.nodes[i]) =
          narrowed<T>(part.reversed ? product(values[i], part.scales[i]) : values[i]);
    }
  }
}

/// One column of V^T f, or of its conjugate.
template <Scalar T>
void sum(int threads, const std::vector<vandermonde::Part<real_t<T>>>& parts, bool conjugated,
         const View<const T, 1>& f, const View<T, 1>& c) {
  using C = ComplexOf<T>;
  const index_t n = c.extent(0);
  std::vector<C> total(n);
  for (const auto& part : parts) {
    std::vector<C> weights(part.nodes.size()), sums(part.terms);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const T v = f(part.nodes[i]);
      weights[i] = conjugated ? conjugate(v) : v;
      if (part.reversed) weights[i] = product(weights[i], part.scales[i]);
    }
    part.evaluator->sum(threads, weights.data(), sums.data());
    for (index_t j = 0; j < part.terms; ++j) total[part.reversed ? n - 1 - j : j] += sums[j];
  }
  for (index_t j = 0; j < n; ++j) c(j) = narrowed<T>(conjugated ? conjugate(total[j]) : total[j]);
}

}  // namespace

template <Scalar T>
VandermondePlan<T>::VandermondePlan(const VandermondeView<T>& matrix,
                                    const vandermonde::PlanOptions& options) {
  const std::string operation = "vandermonde::VandermondePlan";
  const auto m = vandermonde::checked(matrix, operation.c_str());
  const bool fast =
      options.method == Method::nonuniform_fft || options.method == Method::barycentric;
  if (!(options.tolerance >= 0 && options.tolerance < 1) || (fast && options.tolerance == 0)) {
    throw DomainError(operation + ": the tolerance is " + std::to_string(options.tolerance) +
                      (fast ? ", it must lie between 0 and 1" : ", it must lie in [0, 1)"));
  }
  auto state = std::make_shared<vandermonde::PlanState<T>>();
  state->matrix = Vandermonde<T>(m.rows(), m.cols(), m.batch());
  copy(m.x, state->matrix.x.view());
  if (options.method != Method::direct && options.tolerance > 0) {
    bool direct = true;
    for (index_t b = 0; b < m.batch(); ++b) {
      std::vector<ComplexOf<T>> nodes;
      nodes.reserve(m.rows());
      for (index_t i = 0; i < m.rows(); ++i) nodes.emplace_back(m.x(b, i));
      state->entries.push_back(
          vandermonde::Builder<real_t<T>>(std::move(nodes), m.cols(), options).parts());
      for (const auto& part : state->entries.back())
        direct = direct && part.terms == m.cols() && part.direct;
    }
    if (direct) {
      state->entries.clear();
    } else {
      state->method = fast ? options.method : Method::nonuniform_fft;
    }
  }
  state_ = std::move(state);
}

template <Scalar T>
index_t VandermondePlan<T>::batch() const {
  return state_->matrix.batch();
}
template <Scalar T>
index_t VandermondePlan<T>::rows() const {
  return state_->matrix.rows();
}
template <Scalar T>
index_t VandermondePlan<T>::cols() const {
  return state_->matrix.cols();
}
template <Scalar T>
Method VandermondePlan<T>::method() const {
  return state_->method;
}

template <Scalar T>
void apply(const exec::cpu& e, const VandermondePlan<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y) {
  const auto& state = m.state();
  if (state.entries.empty()) return apply(e, state.matrix.view(), op, x, y);
  const bool plain = op == Op::none;
  const index_t rows = plain ? m.rows() : m.cols(), cols = plain ? m.cols() : m.rows();
  const index_t batch = detail::check_operands("vandermonde::apply", m.batch(), rows, cols, x, y);
  const index_t k = y.extent(2);
  const auto in = x.broadcast(0, batch);
  const int team = team_for(e.threads, batch * k * (rows + cols) * 100);
  parallel_for(team, batch * k, [&](index_t column) {
    const index_t b = column / k;
    const auto& parts = state.entries[m.batch() == 1 ? 0 : b];
    const auto from = in.select(0, b).select(1, column % k);
    const auto to = y.select(0, b).select(1, column % k);
    if (plain) {
      evaluate<T>(e.threads, parts, from, to);
    } else {
      sum<T>(e.threads, parts, op == Op::adjoint, from, to);
    }
  });
}

template <Scalar T>
T entry(const VandermondePlan<T>& m, index_t i, index_t j, index_t batch) {
  return entry(m.state().matrix.view(), i, j, batch);
}
template <Scalar T>
void to_dense(const VandermondePlan<T>& m, View<T, 3> dense) {
  to_dense(m.state().matrix.view(), dense);
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template class STRUCTMAT_EXPORT VandermondePlan<T>;                                      \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const VandermondePlan<T>&, Op, \
                                          View<const T, 3>, View<T, 3>);                   \
  template STRUCTMAT_EXPORT T entry(const VandermondePlan<T>&, index_t, index_t, index_t); \
  template STRUCTMAT_EXPORT void to_dense(const VandermondePlan<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
