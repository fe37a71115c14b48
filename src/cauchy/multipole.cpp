#include "cauchy/multipole.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "cauchy/multipole_kernels.hpp"
#include "core/threads.hpp"

namespace structmat::cauchy {
namespace multipole {
namespace {

/// Nodes of a leaf: pairs of neighbouring leaves then take about as long as translations.
constexpr index_t capacity = 40;

/// Columns that are worked on together, for bounded memory.
constexpr int most_columns = 4;

/// 1 / z, scaled by a power of two.
std::complex<double> reciprocal(double re, double im) {
  int exponent = 0;
  std::frexp(std::max(std::abs(re), std::abs(im)), &exponent);
  const double a = std::ldexp(re, -exponent), b = std::ldexp(im, -exponent);
  const double square = a * a + b * b;
  return {std::ldexp(a / square, -exponent), std::ldexp(-b / square, -exponent)};
}

/// A node that is not finite or too large for differences: its index.
template <RealScalar R>
std::optional<index_t> unusable(const View<const std::complex<R>, 1>& nodes) {
  constexpr double most = 0x1p+1000;
  for (index_t i = 0; i < nodes.extent(0); ++i) {
    const auto re = std::abs(static_cast<double>(nodes(i).real()));
    const auto im = std::abs(static_cast<double>(nodes(i).imag()));
    if (!(re <= most && im <= most)) return i;
  }
  return std::nullopt;
}

template <RealScalar R>
View<const std::complex<R>, 1> usable(const char* name,
                                      const View<const std::complex<R>, 1>& nodes) {
  if (const auto i = unusable(nodes)) {
    throw DomainError(std::string("cauchy::multipole: node ") + name + "_" + std::to_string(*i) +
                      " is not finite, or beyond 2^1000");
  }
  return nodes;
}

template <RealScalar R>
double checked_tolerance(R tolerance) {
  if (!(tolerance > 0 && tolerance < 1)) {
    throw DomainError("cauchy::multipole: the tolerance is " + std::to_string(tolerance) +
                      ", it must lie between 0 and 1");
  }
  return tolerance;
}

using Pair = std::pair<index_t, index_t>;

/// The first equal nodes (i, j) of a leaf of targets and any source.
std::optional<Pair> coincidence(const Tree& targets, index_t b, const Tree& sources) {
  const Box& leaf = targets.boxes()[b];
  std::optional<Pair> first;
  std::vector<index_t> stack{0};
  while (!stack.empty()) {
    const Box& box = sources.boxes()[stack.back()];
    const bool may_be = targets.bounds()[b].meets(sources.bounds()[stack.back()]);
    stack.pop_back();
    if (!may_be) continue;
    for (int c = 0; c < box.children; ++c) stack.push_back(box.first_child + c);
    if (!box.leaf()) continue;
    // Nodes of a leaf are in the order of their numbers: of equal ones the first is enough.
    const index_t i_end = leaf.disc.radius == 0 ? leaf.begin + 1 : leaf.end;
    const index_t j_end = box.disc.radius == 0 ? box.begin + 1 : box.end;
    for (index_t i = leaf.begin; i < i_end; ++i) {
      for (index_t j = box.begin; j < j_end; ++j) {
        if (targets.re()[i] != sources.re()[j] || targets.im()[i] != sources.im()[j]) continue;
        const Pair pair{targets.order()[i], sources.order()[j]};
        if (!first || pair < *first) first = pair;
      }
    }
  }
  return first;
}

void require_distinct(const Tree& targets, const Tree& sources, int team) {
  if (targets.size() == 0 || sources.size() == 0) return;
  std::optional<Pair> first;
  std::mutex guard;
  const auto count = static_cast<index_t>(targets.boxes().size());
  constexpr index_t grain = 256;
  parallel_for(team, (count + grain - 1) / grain, [&](index_t g) {
    for (index_t b = g * grain; b < std::min(count, (g + 1) * grain); ++b) {
      if (!targets.boxes()[b].leaf()) continue;
      const std::optional<Pair> pair = coincidence(targets, b, sources);
      if (!pair) continue;
      const std::scoped_lock lock(guard);
      if (!first || *pair < *first) first = pair;
    }
  });
  if (first) {
    throw DomainError("cauchy::multipole: s_" + std::to_string(first->first) + " equals t_" +
                      std::to_string(first->second));
  }
}

/// One pass over both trees, for up to most_columns columns.
template <RealScalar R>
class Pass {
 public:
  Pass(const Scheme& scheme, const Tree& targets, const Tree& sources, int team,
       View<const std::complex<R>, 2> x, View<std::complex<R>, 2> y)
      : scheme_(scheme),
        targets_(targets),
        sources_(sources),
        team_(team),
        columns_(static_cast<int>(x.extent(1))),
        stride_(index_t{2} * scheme.terms() * columns_),
        y_(y),
        charge_data_({sources.size() * 2 * columns_}, uninitialized),
        charges_{charge_data_.data(), sources.size(), columns_},
        multipoles_({static_cast<index_t>(sources.boxes().size()) * stride_}, uninitialized) {
    const index_t n = sources.size();
    over_ranges(n, [&](index_t j) {
      for (int c = 0; c < columns_; ++c) {
        const std::complex<R>& q = x(sources.order()[j], c);
        charge_data_.data()[2 * c * n + j] = static_cast<double>(q.real());
        charge_data_.data()[(2 * c + 1) * n + j] = static_cast<double>(q.imag());
      }
    });
  }

  void run() {
    upward();
    downward();
  }

 private:
  /// What a box of targets gets from above: its local expansion, and the boxes of sources that are
  /// not in it.
  struct Visit {
    index_t box;
    std::vector<double> local;
    std::vector<index_t> candidates;
  };

  /// Room that visits use again and again.
  struct Scratch {
    std::vector<index_t> stack, passed, near;
    std::vector<Far> far;
    Array<double, 1> targets;
  };

  template <class Task>
  void over_ranges(index_t count, const Task& task) const {
    const index_t grain = std::clamp<index_t>(count / 256, 1, 4096);
    parallel_for(team_, (count + grain - 1) / grain, [&](index_t g) {
      for (index_t i = g * grain; i < std::min(count, (g + 1) * grain); ++i) task(i);
    });
  }

  double* multipole(index_t box) { return multipoles_.data() + box * stride_; }

  void upward() {
    const auto& levels = sources_.levels();
    for (auto l = static_cast<index_t>(levels.size()) - 2; l >= 0; --l) {
      over_ranges(levels[l + 1] - levels[l], [&](index_t i) {
        const index_t b = levels[l] + i;
        const Box& box = sources_.boxes()[b];
        if (box.leaf()) {
          expand(scheme_, sources_, box, charges_, multipole(b));
          return;
        }
        std::fill_n(multipole(b), stride_, 0.0);
        for (index_t c = box.first_child; c < box.first_child + box.children; ++c) {
          shift_up(scheme_, sources_.boxes()[c].disc, box.disc, columns_, multipole(c),
                   multipole(b));
        }
      });
    }
  }

  void downward() {
    // Boxes with many targets one after the other, then the trees below them on all threads.
    const index_t many = std::max(capacity, targets_.size() / 128);
    std::vector<Visit> large, tasks;
    large.push_back({0, std::vector<double>(stride_), {0}});
    Scratch scratch;
    while (!large.empty()) {
      Visit v = std::move(large.back());
      large.pop_back();
      const bool task = targets_.boxes()[v.box].size() <= many;
      if (task) {
        tasks.push_back(std::move(v));
      } else {
        visit(v, scratch, large);
      }
    }
    parallel_for(team_, static_cast<index_t>(tasks.size()), [&](index_t i) {
      Scratch own;
      std::vector<Visit> stack;
      stack.push_back(std::move(tasks[i]));
      while (!stack.empty()) {
        Visit v = std::move(stack.back());
        stack.pop_back();
        visit(v, own, stack);
      }
    });
  }

  /// Settles what is far from the box, or near it if it is a leaf, and appends visits to its
  /// children.
  void visit(Visit& v, Scratch& scratch, std::vector<Visit>& next) {
    const Box& box = targets_.boxes()[v.box];
    sort_out(box, v, scratch);
    translate(scheme_, scratch.far.data(), static_cast<index_t>(scratch.far.size()),
              box.disc.radius, columns_, v.local.data());
    if (box.leaf()) {
      finish(box, v, scratch);
      return;
    }
    for (index_t c = box.first_child; c < box.first_child + box.children; ++c) {
      next.push_back({c, std::vector<double>(stride_), scratch.passed});
      shift_down(scheme_, box.disc, targets_.boxes()[c].disc, columns_, v.local.data(),
                 next.back().local.data());
    }
  }

  /// Far, near and passed boxes of sources.
  void sort_out(const Box& box, const Visit& v, Scratch& scratch) {
    scratch.far.clear();
    scratch.near.clear();
    scratch.passed.clear();
    std::vector<index_t>& stack = scratch.stack;
    stack.assign(v.candidates.rbegin(), v.candidates.rend());
    const Disc& disc = box.disc;
    while (!stack.empty()) {
      const index_t b = stack.back();
      stack.pop_back();
      const Box& source = sources_.boxes()[b];
      const double re = disc.re - source.disc.re, im = disc.im - source.disc.im;
      const double z = modulus(re, im), r = source.disc.radius, q = disc.radius;
      if (z == 0 && r == 0 && q == 0) continue;  // all of them coincide
      if (scheme_.separated(r, q, z)) {
        const int terms = scheme_.order(r / (z - q)), local_terms = scheme_.order(q / (z - r));
        if (box.leaf() && source.leaf() && directly(box, source, terms, local_terms)) {
          scratch.near.push_back(b);
        } else {
          const std::complex<double> inverse = reciprocal(re, im);
          scratch.far.push_back(
              {multipole(b), r, inverse.real(), inverse.imag(), terms, local_terms});
        }
      } else if (!box.leaf() && (source.leaf() || q >= r)) {
        scratch.passed.push_back(b);
      } else if (!source.leaf()) {
        for (int c = source.children; c-- > 0;) stack.push_back(source.first_child + c);
      } else {
        scratch.near.push_back(b);
      }
    }
  }

  /// Is a sum over two far leaves faster than a translation? In cycles of two fused vector operations.
  static bool directly(const Box& box, const Box& source, int terms, int local_terms) {
    const index_t vectors = (box.size() + lanes - 1) / lanes;
    const index_t rows = (local_terms + lanes - 1) / lanes;
    return vectors * source.size() * 10 < 80 + rows * terms;
  }

  void finish(const Box& box, const Visit& v, Scratch& scratch) {
    const index_t n = (box.size() + lanes - 1) / lanes * lanes;
    const index_t room = n * (2 + 2 * columns_);
    if (scratch.targets.size() < room) scratch.targets = Array<double, 1>({room}, uninitialized);
    double* re = scratch.targets.data();
    double* im = re + n;
    double* sums = im + n;
    for (index_t i = 0; i < n; ++i) {
      const index_t from = std::min(box.begin + i, box.end - 1);
      re[i] = targets_.re()[from];
      im[i] = targets_.im()[from];
    }
    std::fill_n(sums, 2 * columns_ * n, 0.0);
    const Targets targets{re, im, sums, n};
    for (const index_t b : scratch.near) {
      const Box& source = sources_.boxes()[b];
      add_near(targets, sources_, source, charges_, box.extreme || source.extreme);
    }
    evaluate(scheme_, box.disc, columns_, v.local.data(), targets);
    for (int c = 0; c < columns_; ++c) {
      for (index_t i = 0; i < box.size(); ++i) {
        y_(targets_.order()[box.begin + i], c) = {static_cast<R>(sums[2 * c * n + i]),
                                                  static_cast<R>(sums[(2 * c + 1) * n + i])};
      }
    }
  }

  const Scheme& scheme_;
  const Tree &targets_, &sources_;
  int team_;
  int columns_;
  index_t stride_;  // of expansions
  View<std::complex<R>, 2> y_;
  Array<double, 1> charge_data_;
  Charges charges_;
  Array<double, 1> multipoles_;
};

}  // namespace
}  // namespace multipole

template <RealScalar R>
Multipole<R>::Multipole(View<const std::complex<R>, 1> s, View<const std::complex<R>, 1> t,
                        R tolerance, Coincidence coincidence, const exec::cpu& e)
    : scheme_(multipole::checked_tolerance(tolerance)),
      targets_(multipole::usable("s", s), multipole::capacity,
               team_for(e.threads, 100 * s.extent(0))),
      sources_(multipole::usable("t", t), multipole::capacity,
               team_for(e.threads, 100 * t.extent(0))) {
  if (coincidence == Coincidence::error) {
    multipole::require_distinct(targets_, sources_, team_for(e.threads, 100 * rows()));
  }
}

template <RealScalar R>
void Multipole<R>::apply(const exec::cpu& e, View<const std::complex<R>, 2> x,
                         View<std::complex<R>, 2> y) const {
  if (x.extent(0) != cols() || y.extent(0) != rows() || x.extent(1) != y.extent(1)) {
    throw ShapeError("cauchy::multipole: x is " + std::to_string(x.extent(0)) + " x " +
                     std::to_string(x.extent(1)) + " and y " + std::to_string(y.extent(0)) + " x " +
                     std::to_string(y.extent(1)) + ", there are " + std::to_string(cols()) +
                     " sources and " + std::to_string(rows()) + " targets");
  }
  if (rows() == 0) return;
  if (cols() == 0) {
    for (index_t c = 0; c < y.extent(1); ++c) {
      for (index_t i = 0; i < rows(); ++i) y(i, c) = {};
    }
    return;
  }
  const int team = team_for(e.threads, 1000 * (rows() + cols()));
  for (index_t c = 0; c < x.extent(1); c += multipole::most_columns) {
    const index_t end = std::min<index_t>(x.extent(1), c + multipole::most_columns);
    multipole::Pass<R>(scheme_, targets_, sources_, team, x.slice(1, c, end), y.slice(1, c, end))
        .run();
  }
}

template class STRUCTMAT_EXPORT Multipole<float>;
template class STRUCTMAT_EXPORT Multipole<double>;

}  // namespace structmat::cauchy
