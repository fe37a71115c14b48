#include "cauchy/line.hpp"

#include <algorithm>
#include <utility>

#include "cauchy/coincidence.hpp"
#include "cauchy/line_rules.hpp"
#include "core/threads.hpp"

namespace structmat::cauchy {
namespace {

constexpr index_t leaf_size = 64;
/// Cells that one task takes.
constexpr index_t cells_together = 16;

/// Some targets and what is summed there: whole vectors of both.
template <RealScalar R>
struct Targets {
  const R* nodes;
  index_t count;
  R* sums;
  index_t sum_step;
};
template <RealScalar R>
struct Charges {
  const R* nodes;
  index_t count;
  const R* charges;
  index_t charge_step;
};

template <RealScalar R>
void add_pairs(Reach reach, index_t columns, const Targets<R>& targets, const Charges<R>& sources) {
  KernelRun<R> run;
  run.sources = sources.nodes;
  run.charges = sources.charges;
  run.charge_step = sources.charge_step;
  run.count = sources.count;
  run.sum_step = targets.sum_step;
  for (index_t i = 0; i < targets.count;) {
    const int vectors = targets.count - i > lanes<R> ? 2 : 1;
    run.targets = targets.nodes + i;
    run.sums = targets.sums + i;
    kernel_for<R>(reach, vectors, columns)(run);
    i += vectors * lanes<R>;
  }
}

}  // namespace

template <RealScalar R>
struct Line<R>::Pair {
  std::int32_t row, col;
  bool row_proxies, col_proxies;
};

/// The passes over both trees for one group of columns.
template <RealScalar R>
struct Line<R>::Sweep {
  using Cell = typename LineTree<R>::Cell;

  Sweep(const Line& line, const LineTree<R>& to, const LineTree<R>& from, const Terms& all,
        index_t width)
      : targets(to),
        sources(from),
        terms(all),
        chebyshev(line.chebyshev_),
        coincide(line.coincide_),
        columns(width),
        order(chebyshev.order()),
        charges({columns, from.size()}, uninitialized),
        proxies({static_cast<index_t>(from.cells.size()), columns, order}, uninitialized),
        coefficients({static_cast<index_t>(to.cells.size()), columns, order}, uninitialized) {}

  /// The proxies of a cell's charges, from those of the children.
  void ascend(index_t c, const View<const R, 2>& x) {
    const Cell& cell = sources.cells[c];
    R moments[4 * Chebyshev<R>::max_order] = {};
    if (sources.is_leaf(c)) {
      for (index_t k = 0; k < columns; ++k) {
        R* row = charges.data() + k * sources.size();
        for (index_t j = cell.begin; j < cell.end; ++j) {
          row[j] = k < x.extent(1) ? x(sources.order[j], k) : R{0};
        }
      }
      chebyshev.add_moments(points_of(sources, cell), columns, charges.data() + cell.begin,
                            sources.size(), moments);
    } else {
      for (const index_t child : {2 * c + 1, 2 * c + 2}) {
        chebyshev.add_moments(proxies_of(sources.cells[child], cell), columns, proxies_at(child),
                              order, moments);
      }
    }
    chebyshev.to_proxies(columns, moments, proxies_at(c));
  }

  /// The interpolant of what is far from a cell, and in a leaf the sums themselves.
  void descend(index_t c, const View<R, 2>& y) {
    const Cell& cell = targets.cells[c];
    const bool leaf = targets.is_leaf(c);
    constexpr index_t step = leaf_size + 2 * kernel_targets<R>;
    alignas(64) R values[4 * Chebyshev<R>::max_order] = {};
    alignas(64) R sums[4 * step] = {};
    for (index_t i = terms.start[c]; i < terms.start[c + 1]; ++i) {
      const Term& term = terms.terms[i];
      if (term.target_proxies) {
        add_term(term, cell, values, order);
      } else {
        add_term(term, cell, sums, step);
      }
    }
    if (c > 0) {
      const index_t parent = (c - 1) / 2;
      chebyshev.add_values(proxies_of(cell, targets.cells[parent]), columns,
                           coefficients_at(parent), values, order);
    }
    chebyshev.to_coefficients(columns, values, coefficients_at(c));
    if (!leaf) return;
    chebyshev.add_values(points_of(targets, cell), columns, coefficients_at(c), sums, step);
    for (index_t i = cell.begin; i < cell.end; ++i) {
      for (index_t k = 0; k < y.extent(1); ++k) {
        y(targets.order[i], k) = sums[k * step + i - cell.begin];
      }
    }
  }

 private:
  R* proxies_at(index_t c) { return proxies.data() + c * columns * order; }
  R* coefficients_at(index_t c) { return coefficients.data() + c * columns * order; }

  static R inverse(R half) { return half >= 4 * std::numeric_limits<R>::min() ? 1 / half : R{0}; }
  static ScaledPoints<R> points_of(const LineTree<R>& tree, const Cell& cell) {
    return {tree.nodes.data() + cell.begin, cell.size(), -cell.low, R{1}, inverse(cell.half)};
  }
  ScaledPoints<R> proxies_of(const Cell& cell, const Cell& parent) const {
    return {chebyshev.points(), order, cell.low - parent.low, cell.half, inverse(parent.half)};
  }

  /// Proxies lie at small distances from the low end of a cell: positions relative to one that takes
  /// part keep the differences accurate.
  void add_term(const Term& term, const Cell& cell, R* sums, index_t step) {
    const Cell& source = sources.cells[term.source];
    constexpr index_t most = leaf_size + 2 * kernel_targets<R>;
    alignas(64) R at[most], from[most];
    Targets<R> to{targets.nodes.data() + cell.begin, cell.size(), sums, step};
    Charges<R> of{sources.nodes.data() + source.begin, source.size(), charges.data() + source.begin,
                  sources.size()};
    const R* z = chebyshev.points();
    if (term.source_proxies) {
      for (index_t k = 0; k < order; ++k) from[k] = source.half * z[k];
      of = {from, order, proxies_at(term.source), order};
      if (!term.target_proxies) {
        const index_t whole = (cell.size() + lanes<R> - 1) / lanes<R> * lanes<R>;
        for (index_t i = 0; i < whole; ++i) at[i] = to.nodes[i] - source.low;
        to.nodes = at;
      }
    } else if (term.target_proxies) {
      for (index_t j = 0; j < source.size(); ++j) from[j] = of.nodes[j] - cell.low;
      of.nodes = from;
    }
    if (term.target_proxies) {
      const R shift = term.source_proxies ? cell.low - source.low : R{0};
      for (index_t k = 0; k < order; ++k) at[k] = shift + cell.half * z[k];
      to.nodes = at;
      to.count = order;
    }
    add_pairs(reach(term, cell, source), columns, to, of);
  }

  Reach reach(const Term& term, const Cell& cell, const Cell& source) const {
    const R least = line_rules::gap(cell, source);
    if (least > 0) {
      const R most = std::max(cell.high - source.low, source.high - cell.low);
      return least >= least_narrow_difference<R> && most <= most_narrow<R> ? Reach::narrow
                                                                           : Reach::wide;
    }
    const index_t c = &cell - targets.cells.data();
    return coincide || targets.leaf_reach(c) == Reach::wide ||
                   sources.leaf_reach(term.source) == Reach::wide
               ? Reach::wide
               : Reach::narrow;
  }

  const LineTree<R>&targets, &sources;
  const Terms& terms;
  const Chebyshev<R>& chebyshev;
  bool coincide;
  index_t columns, order;
  Array<R, 2> charges;                // (columns, n)
  Array<R, 3> proxies, coefficients;  // (cells, columns, order)
};

template <RealScalar R>
Line<R>::Line(const exec::cpu& e, const View<const R, 1>& s, const View<const R, 1>& t,
              double tolerance, Coincidence coincidence, index_t batch)
    : chebyshev_(line_rules::order_for<R>(tolerance, lanes<R>)) {
  opening_ = line_rules::opening_for<R>(tolerance, chebyshev_.order());
  parallel_for(team_for(e.threads, s.extent(0) + t.extent(0)), 2, [&](index_t side) {
    (side == 0 ? rows_ : cols_) = LineTree<R>(side == 0 ? s : t, side == 0 ? "s" : "t", leaf_size);
  });
  index_t i = 0, j = 0;
  coincide_ = find_coincidence(rows_, cols_, i, j);
  if (coincide_ && coincidence == Coincidence::error)
    throw_coincidence("cauchy::plan", i, j, batch);
  if (rows() == 0 || cols() == 0) return;

  std::vector<Pair> pairs;
  collect(0, 0, pairs);
  const auto arrange = [&](const LineTree<R>& tree, auto target, auto term) {
    Terms list;
    list.start.assign(tree.cells.size() + 2, 0);
    list.terms.resize(pairs.size());
    for (const Pair& p : pairs) ++list.start[target(p) + 2];
    for (std::size_t c = 2; c < list.start.size(); ++c) list.start[c] += list.start[c - 1];
    for (const Pair& p : pairs) list.terms[list.start[target(p) + 1]++] = term(p);
    return list;
  };
  by_row_ = arrange(
      rows_, [](const Pair& p) { return p.row; },
      [](const Pair& p) {
        return Term{p.col, p.row_proxies, p.col_proxies};
      });
  by_col_ = arrange(
      cols_, [](const Pair& p) { return p.col; },
      [](const Pair& p) {
        return Term{p.row, p.col_proxies, p.row_proxies};
      });
}

template <RealScalar R>
index_t Line<R>::pairs() const {
  index_t sum = 0;
  for (std::size_t c = 0; c < rows_.cells.size() && by_row_.start.size() > c + 1; ++c) {
    for (index_t i = by_row_.start[c]; i < by_row_.start[c + 1]; ++i) {
      const Term& term = by_row_.terms[i];
      sum += (term.target_proxies ? chebyshev_.order() : rows_.cells[c].size()) *
             (term.source_proxies ? chebyshev_.order() : cols_.cells[term.source].size());
    }
  }
  return sum;
}

template <RealScalar R>
void Line<R>::collect(index_t row, index_t col, std::vector<Pair>& pairs) const {
  using line_rules::Step;
  const auto &a = rows_.cells[row], &b = cols_.cells[col];
  const bool row_leaf = rows_.is_leaf(row), col_leaf = cols_.is_leaf(col);
  const auto decision = line_rules::decide(a, row_leaf, b, col_leaf, opening_);
  if (decision.step == Step::none) return;
  if (decision.step == Step::taken) {
    const index_t p = chebyshev_.order();
    pairs.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(col),
                     decision.row_apart && (!row_leaf || a.size() > p),
                     decision.col_apart && (!col_leaf || b.size() > p)});
    return;
  }
  for (const index_t child : {1, 2}) {
    if (decision.step == Step::divide_row) {
      collect(2 * row + child, col, pairs);
    } else {
      collect(row, 2 * col + child, pairs);
    }
  }
}

template <RealScalar R>
void Line<R>::apply_group(int team, const LineTree<R>& targets, const LineTree<R>& sources,
                          const Terms& terms, const View<const R, 2>& x,
                          const View<R, 2>& y) const {
  const index_t width = x.extent(1) == 3 ? 4 : x.extent(1);
  Sweep sweep(*this, targets, sources, terms, width);
  const auto over_level = [&](int level, const auto& visit) {
    const index_t first = (index_t{1} << level) - 1, count = index_t{1} << level;
    parallel_for(team, (count + cells_together - 1) / cells_together, [&](index_t task) {
      const index_t end = std::min(count, (task + 1) * cells_together);
      for (index_t c = task * cells_together; c < end; ++c) visit(first + c);
    });
  };
  for (int level = sources.depth; level >= 0; --level) {
    over_level(level, [&](index_t c) { sweep.ascend(c, x); });
  }
  for (int level = 0; level <= targets.depth; ++level) {
    over_level(level, [&](index_t c) { sweep.descend(c, y); });
  }
}

template <RealScalar R>
void Line<R>::apply_columns(const exec::cpu& e, const LineTree<R>& targets,
                            const LineTree<R>& sources, const Terms& terms,
                            const View<const R, 2>& x, const View<R, 2>& y) const {
  if (sources.size() == 0) {
    for (index_t i = 0; i < y.extent(0); ++i) {
      for (index_t k = 0; k < y.extent(1); ++k) y(i, k) = R{0};
    }
    return;
  }
  if (targets.size() == 0) return;
  const int team = team_for(e.threads, (targets.size() + sources.size()) * leaf_size);
  for (index_t begin = 0; begin < x.extent(1); begin += 4) {
    const index_t end = std::min(begin + 4, x.extent(1));
    apply_group(team, targets, sources, terms, x.slice(1, begin, end), y.slice(1, begin, end));
  }
}

template <RealScalar R>
void Line<R>::apply(const exec::cpu& e, const View<const R, 2>& x, const View<R, 2>& y) const {
  apply_columns(e, rows_, cols_, by_row_, x, y);
}

template <RealScalar R>
void Line<R>::apply_exchanged(const exec::cpu& e, const View<const R, 2>& x,
                              const View<R, 2>& y) const {
  apply_columns(e, cols_, rows_, by_col_, x, y);
}

template class STRUCTMAT_EXPORT Line<float>;
template class STRUCTMAT_EXPORT Line<double>;

}  // namespace structmat::cauchy
