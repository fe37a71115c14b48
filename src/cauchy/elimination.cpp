#include "cauchy/elimination.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cauchy/elimination_kernels.hpp"
#include "core/product.hpp"
#include "quasiseparable/log_product.hpp"
#include "structmat/dense/lapack.hpp"

namespace structmat::cauchy {
namespace {

/// Steps between two orthogonalisations.
constexpr index_t event_distance = 16;

template <class R>
constexpr index_t padded_blocks(index_t n) {
  return (n + panel_width<R> - 1) / panel_width<R> * panel_blocks;
}

template <Scalar T>
void put(real_t<T>* p, const T& value) {
  p[0] = std::real(value);
  if constexpr (is_complex_v<T>) p[1] = std::imag(value);
}

template <class R>
void put_node(R* p, const LineNode<R>& node) {
  p[0] = node.value;
}
template <class R>
void put_node(R* p, const CircleNode<R>& node) {
  p[0] = node.value, p[1] = node.rest;
}
template <class R>
void put_node(R* p, const PlaneNode<R>& node) {
  p[0] = node.re, p[1] = node.im;
}

/// What a node of the other side contributes to 1 / (s - t) besides the difference.
template <class R>
R weight_of(const LineNode<R>&) {
  return 1;
}
template <class R>
std::complex<R> weight_of(const CircleNode<R>& node) {
  return {1, -node.value};
}
template <class R>
R weight_of(const PlaneNode<R>&) {
  return 1;
}

/// a - b, which steps by products ask for: never of nodes on the circle.
template <class T, class R>
T difference(const LineNode<R>& a, const LineNode<R>& b) {
  return a.value - b.value;
}
template <class T, class R>
T difference(const CircleNode<R>&, const CircleNode<R>&) {
  return T{};
}
template <class T, class R>
T difference(const PlaneNode<R>& a, const PlaneNode<R>& b) {
  return {a.re - b.re, a.im - b.im};
}

/// ||x||_F of all generators of a side.
template <class S>
double norm_of(const S& side) {
  return std::sqrt(sum_of_squares(side.x.data(), side.x.size()));
}

/// A power of two near 1 / x; 1 for 0.
template <class R>
R power_near_inverse(double x) {
  if (!(x > 0) || !std::isfinite(x)) return 1;
  const int limit = std::numeric_limits<R>::max_exponent - 2;
  return std::ldexp(R{1}, std::clamp(-std::ilogb(x), -limit, limit));
}

}  // namespace

template <Scalar T, class Node>
Side<T, Node>::Side(index_t lines, index_t r)
    : n(lines),
      order(r),
      x({padded_blocks<R>(lines) * r * reals}),
      node({padded_blocks<R>(lines) * Node::fields * W}) {}

template <Scalar T, class Node>
Node Side<T, Node>::node_at(index_t i) const {
  const R* p = node.data() + i / W * Node::fields * W + i % W;
  if constexpr (Node::fields == 1) {
    return {*p};
  } else {
    return {p[0], p[W]};
  }
}

template <Scalar T, class Node>
void Side<T, Node>::set_node(index_t i, const Node& value) {
  R* p = node.data() + i / W * Node::fields * W + i % W;
  if constexpr (Node::fields == 1) {
    *p = value.value;
  } else {
    R numbers[2];
    put_node(numbers, value);
    p[0] = numbers[0], p[W] = numbers[1];
  }
}

template <Scalar T, class Node>
void Side<T, Node>::pad() {
  for (index_t i = n; i < padded_blocks<R>(n) * W; ++i) set_node(i, node_at(n - 1));
}

/// The elimination itself.
template <Scalar T, class Node>
struct Elimination<T, Node>::Run {
  Elimination& e;
  Side<T, Node> rows, cols;
  Array<R, 1> row_entries, col_entries;
  Step step;

  Run(Elimination& result, Problem<T, Node>& problem)
      : e(result),
        rows(std::move(problem.rows)),
        cols(std::move(problem.cols)),
        row_entries({padded_blocks<R>(e.n_) * Side<T, Node>::reals}),
        col_entries(row_entries.extents()),
        step(e.cauchy_       ? Step::product
             : e.order_ == 2 ? Step::order_two
                             : Step::general) {}

  static constexpr int W = Side<T, Node>::W;

  Pass<T> pass(Side<T, Node>& side, Array<R, 1>& entries, index_t first_line) const {
    return {first_line / W, side.blocks(),    e.order_,
            side.x.data(),  side.node.data(), entries.data()};
  }

  void swap(Side<T, Node>& side, Array<R, 1>& entries, std::vector<index_t>& order, index_t i,
            index_t j) const {
    if (i == j) return;
    for (index_t l = 0; l < e.order_; ++l) {
      const T kept = side.get(i, l);
      side.set(i, l, side.get(j, l));
      side.set(j, l, kept);
    }
    const Node kept = side.node_at(i);
    side.set_node(i, side.node_at(j));
    side.set_node(j, kept);
    R *at_i = entries.data() + i / W * side.reals, *at_j = entries.data() + j / W * side.reals;
    const T entry = side.number(at_i, i);
    side.assign(at_i, i, side.number(at_j, j));
    side.assign(at_j, j, entry);
    std::swap(order[std::size_t(i)], order[std::size_t(j)]);
  }

  /// The record of the pivot of one factor without its update.
  R* start_record(Factor<T, Node>& f, index_t k, const Node& other, const std::vector<T>& dot,
                  R sign) const {
    R* record = f.pivots.data() + k * f.pivots.extent(1);
    put_node(record, other);
    const auto factor = sign * weight_of(other);
    for (index_t l = 0; l < e.order_; ++l) {
      put<T>(record + 4 + l * parts<T>, e.cauchy_ ? T(sign) : T(factor * dot[std::size_t(l)]));
    }
    return record;
  }
  void finish_record(R* record, const Node& twin, const std::vector<T>& update,
                     const T& pivot) const {
    put_node(record + 2, twin);
    R* change = record + 4 + e.order_ * parts<T>;
    for (index_t l = 0; l < e.order_; ++l) {
      put<T>(change + l * parts<T>, -update[std::size_t(l)] / pivot);
    }
  }

  std::vector<T> line(const Side<T, Node>& side, index_t i) const {
    std::vector<T> values(std::size_t(e.order_));
    for (index_t l = 0; l < e.order_; ++l) values[std::size_t(l)] = side.get(i, l);
    return values;
  }
  void retire(Side<T, Node>& side, Array<R, 1>& entries, index_t i) const {
    for (index_t l = 0; l < e.order_; ++l) side.set(i, l, T{});
    side.assign(entries.data() + i / W * side.reals, i, T{});
  }

  /// Generators of common size (products) or orthonormal rows; returns the next column.
  index_t rescale(index_t k) {
    const index_t r = e.order_;
    Event event{k, std::vector<T>(std::size_t(r * r)), std::vector<T>(std::size_t(r * r))};
    double before = 0;
    if (e.cauchy_) {
      event.rows[0] = power_near_inverse<R>(largest_modulus(rows.x.data(), rows.x.size()));
      event.cols[0] = power_near_inverse<R>(largest_modulus(cols.x.data(), cols.x.size()));
      transform_rows<T>(rows.x.data(), rows.blocks(), r, event.rows.data());
    } else {
      before = norm_of(rows) * norm_of(cols);
      orthogonalise<T>(rows.x.data(), k / W, rows.blocks(), r, event.rows.data());
      event.cols = event.rows;
      for (index_t l = 0; l < r; ++l)
        event.cols[std::size_t(l * r + l)] = T{1} / event.rows[std::size_t(l * r + l)];
    }
    transform_columns<T>(cols.x.data(), cols.blocks(), r, event.cols.data());
    grow(k, before);
    e.events_.push_back(std::move(event));
    return pass_columns<T, Node>(pass(cols, col_entries, k), step).index;
  }

  double reference = 0;
  void grow(index_t k, double before) {
    if (e.cauchy_) return;
    const double now = norm_of(rows) * norm_of(cols);
    if (k == 0) {
      reference = now;
    } else if (reference > 0) {
      e.growth_ = std::max(e.growth_, before / reference);
    }
  }

  PivotStatus eliminate() {
    const index_t n = e.n_;
    const R* finished = nullptr;
    index_t next_col = 0, worst = 0;
    double least = INFINITY, largest = 0;
    R middle_scale = 1;
    for (index_t k = 0; k < n; ++k) {
      if (k % event_distance == 0 && (k == 0 || n - k > std::max(e.order_, event_distance))) {
        if (finished != nullptr) {
          auto p = pass(rows, row_entries, k);
          p.finished = std::exchange(finished, nullptr);
          pass_rows<T, Node>(p, step);
        }
        next_col = rescale(k);
        if (e.cauchy_) {
          middle_scale *= std::real(e.events_.back().rows[0] * e.events_.back().cols[0]);
        }
      }
      swap(cols, col_entries, e.upper_.order, k, next_col);
      const std::vector<T> h = line(cols, k);
      const Node t = cols.node_at(k);
      R* row_record = start_record(e.lower_, k, t, h, 1);
      auto row_pass = pass(rows, row_entries, k);
      row_pass.finished = finished;
      row_pass.pivot = row_record;
      const Best<R> best = pass_rows<T, Node>(row_pass, step);
      if (!(best.size >= std::numeric_limits<R>::min())) return {PivotStatus::Kind::zero, 0, k, 0};
      if (!std::isfinite(best.size))
        return {PivotStatus::Kind::not_finite, 0, k, double(best.size)};

      swap(rows, row_entries, e.lower_.order, k, best.index);
      const std::vector<T> g = line(rows, k);
      const Node s = rows.node_at(k);
      const T pivot = rows.number(row_entries.data() + k / W * rows.reals, k);
      finish_record(row_record, s, g, pivot);
      R* col_record = start_record(e.upper_, k, s, g, -1);
      finish_record(col_record, t, h, pivot);
      finished = row_record;
      e.lower_.diagonal(k) = pivot;
      if (e.cauchy_) {
        const T gap = difference<T>(s, t);
        e.upper_.diagonal(k) = h[0] / gap;
        e.middle_(k) = gap / middle_scale;
      } else {
        e.upper_.diagonal(k) = pivot;
        e.middle_(k) = T{1} / pivot;
      }
      const double size = std::abs(pivot);
      largest = std::max(largest, size);
      if (size < least) least = size, worst = k;
      retire(rows, row_entries, k);
      retire(cols, col_entries, k);
      auto col_pass = pass(cols, col_entries, k + 1);
      col_pass.pivot = col_record;
      next_col = pass_columns<T, Node>(col_pass, step).index;
    }
    if (!e.cauchy_ && least <= 4 * std::sqrt(double(n)) * double(epsilon<T>) * largest) {
      return {PivotStatus::Kind::near_singular, 0, worst, least};
    }
    return {};
  }
};

template <Scalar T, class Node>
Elimination<T, Node>::Elimination(Problem<T, Node> problem)
    : n_(problem.rows.n), order_(problem.rows.order), cauchy_(problem.cauchy), middle_({n_}) {
  if (n_ == 0) return;
  for (Factor<T, Node>* f : {&lower_, &upper_}) {
    f->pivots = Array<R, 2>({n_, record_length<T>(order_)});
    f->diagonal = Array<T, 1>({n_});
    f->order.resize(std::size_t(n_));
    for (index_t i = 0; i < n_; ++i) f->order[std::size_t(i)] = i;
  }
  problem.rows.pad();
  problem.cols.pad();
  const Side<T, Node> rows = problem.rows, cols = problem.cols;
  status_ = Run(*this, problem).eliminate();
  const auto arrange = [this](const Side<T, Node>& given, Factor<T, Node>& f) {
    f.lines = Side<T, Node>(n_, order_);
    for (index_t i = 0; i < n_; ++i) {
      const index_t from = f.order[std::size_t(i)];
      for (index_t l = 0; l < order_; ++l) f.lines.set(i, l, given.get(from, l));
      f.lines.set_node(i, given.node_at(from));
    }
    f.lines.pad();
  };
  arrange(rows, lower_);
  arrange(cols, upper_);
}

/// visit(first line, lines, panel): panel(k, lane) = L_{line, k} or U_{k, line} for k <= line.
template <Scalar T, class Node>
template <class Visit>
void Elimination<T, Node>::panels(const Factor<T, Node>& f, bool is_lower, bool backward,
                                  const Visit& visit) const {
  constexpr index_t width = panel_width<R>, block_reals = Side<T, Node>::reals;
  const index_t panels = (n_ + width - 1) / width;
  const Step step = cauchy_ ? Step::product : order_ == 2 ? Step::order_two : Step::general;
  Array<R, 1> panel({panels * width * panel_blocks * block_reals}, uninitialized);
  Array<R, 1> x({panel_blocks * order_ * block_reals}, uninitialized);
  for (index_t turn = 0; turn < panels; ++turn) {
    const index_t begin = (backward ? panels - 1 - turn : turn) * width;
    const index_t end = std::min(n_, begin + width), block = begin / lane_width<R>;
    std::copy_n(f.lines.x.data() + block * order_ * block_reals, x.size(), x.data());
    PanelPass<T, Node> p{0,
                         0,
                         order_,
                         x.data(),
                         f.lines.node.data() + block * Node::fields * lane_width<R>,
                         f.pivots.data(),
                         f.pivots.extent(1),
                         panel.data()};
    for (std::size_t i = 0; i < events_.size() && events_[i].step < end; ++i) {
      const Event& event = events_[i];
      if (is_lower) {
        transform_rows<T>(x.data(), panel_blocks, order_, event.rows.data());
      } else {
        transform_columns<T>(x.data(), panel_blocks, order_, event.cols.data());
      }
      p.first = event.step;
      p.last = i + 1 < events_.size() ? std::min(end, events_[i + 1].step) : end;
      pass_panel<T, Node>(p, step);
    }
    visit(begin, end - begin, std::as_const(panel).data());
  }
}

template <Scalar T, class Node>
void Elimination<T, Node>::solve(Op op, View<T, 2> columns) const {
  constexpr index_t width = panel_width<R>, W = lane_width<R>, reals = Side<T, Node>::reals;
  const auto entry = [](const R* panel, index_t k, index_t lane) {
    return Side<T, Node>::number(panel + (k * panel_blocks + lane / W) * reals, lane);
  };
  const index_t k = columns.extent(0);
  Array<R, 1> lanes({panel_blocks * reals});
  // L y = c or U^T y = c.
  const auto forward = [&](const Factor<T, Node>& f, bool is_lower) {
    panels(f, is_lower, false, [&](index_t begin, index_t count, const R* panel) {
      for (index_t c = 0; c < k; ++c) {
        T* y = columns.data() + c * columns.stride(0);
        gather_panel<T>(panel, begin, y, lanes.data());
        for (index_t i = 0; i < count; ++i) {
          y[begin + i] -= Side<T, Node>::number(lanes.data() + i / W * reals, i);
        }
        for (index_t i = 0; i < count; ++i) {
          y[begin + i] /= f.diagonal(begin + i);
          for (index_t j = i + 1; j < count; ++j) {
            y[begin + j] -= product(entry(panel, begin + i, j), y[begin + i]);
          }
        }
      }
    });
  };
  // U y = c or L^T y = c.
  const auto backward = [&](const Factor<T, Node>& f, bool is_lower) {
    panels(f, is_lower, true, [&](index_t begin, index_t count, const R* panel) {
      for (index_t c = 0; c < k; ++c) {
        T* y = columns.data() + c * columns.stride(0);
        for (index_t i = count; i-- > 0;) {
          y[begin + i] /= f.diagonal(begin + i);
          for (index_t j = 0; j < i; ++j) {
            y[begin + j] -= product(entry(panel, begin + j, i), y[begin + i]);
          }
        }
        for (index_t i = 0; i < width; ++i) {
          Side<T, Node>::assign(lanes.data() + i / W * reals, i, i < count ? y[begin + i] : T{});
        }
        scatter_panel<T>(panel, begin, lanes.data(), y);
      }
    });
  };
  const bool flipped = op != Op::none;
  const Factor<T, Node>&first = flipped ? upper_ : lower_, &second = flipped ? lower_ : upper_;
  Array<T, 1> ordered({n_});
  for (index_t c = 0; c < k; ++c) {
    T* y = columns.data() + c * columns.stride(0);
    for (index_t i = 0; i < n_; ++i) {
      const T value = y[first.order[std::size_t(i)]];
      ordered(i) = op == Op::adjoint ? conjugate(value) : value;
    }
    std::copy_n(ordered.data(), n_, y);
  }
  if (!stored_.empty()) {
    std::vector<int> in_place(lower_.order.size());
    std::iota(in_place.begin(), in_place.end(), 1);
    dense::lu_solve<T>(flipped ? Op::transpose : Op::none, stored_.view().transposed(), in_place,
                       columns.transposed());
  } else {
    forward(first, !flipped);
    for (index_t c = 0; c < k; ++c) {
      T* y = columns.data() + c * columns.stride(0);
      for (index_t i = 0; i < n_; ++i) y[i] /= middle_(i);
    }
    backward(second, flipped);
  }
  for (index_t c = 0; c < k; ++c) {
    T* y = columns.data() + c * columns.stride(0);
    std::copy_n(y, n_, ordered.data());
    for (index_t i = 0; i < n_; ++i) {
      y[second.order[std::size_t(i)]] = op == Op::adjoint ? conjugate(ordered(i)) : ordered(i);
    }
  }
}

template <Scalar T, class Node>
void Elimination<T, Node>::store() {
  if (!status_.usable()) return;
  Array<T, 2> factors({n_, n_}, uninitialized);
  constexpr index_t W = lane_width<R>, reals = Side<T, Node>::reals;
  const auto each = [&](const Factor<T, Node>& f, bool is_lower, const auto& write) {
    panels(f, is_lower, false, [&](index_t begin, index_t count, const R* panel) {
      for (index_t k = 0; k < begin + count; ++k) {
        const R* entries = panel + k * panel_blocks * reals;
        for (index_t lane = std::max<index_t>(0, k + 1 - begin); lane < count; ++lane) {
          write(begin + lane, k, Side<T, Node>::number(entries + lane / W * reals, lane));
        }
      }
    });
  };
  each(lower_, true,
       [&](index_t i, index_t k, const T& l) { factors(k, i) = l / lower_.diagonal(k); });
  each(upper_, false, [&](index_t j, index_t k, const T& u) {
    factors(j, k) = product(product(lower_.diagonal(k), middle_(k)), u);
  });
  for (index_t k = 0; k < n_; ++k) {
    factors(k, k) = product(product(lower_.diagonal(k), middle_(k)), upper_.diagonal(k));
  }
  stored_ = std::move(factors);
}

namespace {

/// Is the permutation odd?
bool is_odd(const std::vector<index_t>& order) {
  std::vector<bool> seen(order.size(), false);
  bool odd = false;
  for (std::size_t start = 0; start < order.size(); ++start) {
    if (seen[start]) continue;
    bool length_even = true;
    for (std::size_t i = start; !seen[i]; i = std::size_t(order[i])) {
      seen[i] = true;
      length_even = !length_even;
    }
    odd ^= length_even;
  }
  return odd;
}

}  // namespace

template <Scalar T, class Node>
LogDeterminant<T> Elimination<T, Node>::log_determinant() const {
  if (status_.kind == PivotStatus::Kind::zero) return {-INFINITY, T{}};
  quasiseparable::LogProduct product_of_sizes;
  T sign(is_odd(lower_.order) != is_odd(upper_.order) ? R{-1} : R{1});
  for (index_t k = 0; k < n_; ++k) {
    for (const T& factor : {lower_.diagonal(k), middle_(k), upper_.diagonal(k)}) {
      const R size = std::abs(factor);
      product_of_sizes.times(size);
      sign = product(sign, factor / size);
    }
  }
  if constexpr (is_complex_v<T>) sign /= std::abs(sign);
  return {product_of_sizes.log(), sign};
}

PivotStatus first_status(const std::vector<PivotStatus>& entries) {
  PivotStatus first;
  for (std::size_t b = 0; b < entries.size(); ++b) {
    if (entries[b].ok()) continue;
    if (first.ok() || (first.usable() && !entries[b].usable())) {
      first = entries[b];
      first.batch = static_cast<index_t>(b);
    }
  }
  return first;
}

#define STRUCTMAT_INSTANTIATE(T, Node) \
  template struct Side<T, Node>;       \
  template class Elimination<T, Node>;
STRUCTMAT_INSTANTIATE(float, LineNode<float>)
STRUCTMAT_INSTANTIATE(double, LineNode<double>)
STRUCTMAT_INSTANTIATE(std::complex<float>, CircleNode<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>, CircleNode<double>)
STRUCTMAT_INSTANTIATE(std::complex<float>, PlaneNode<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>, PlaneNode<double>)

}  // namespace structmat::cauchy
