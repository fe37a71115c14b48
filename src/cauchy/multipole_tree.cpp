#include "cauchy/multipole_tree.hpp"

#include <algorithm>
#include <array>

#include "cauchy/multipole_kernels.hpp"
#include "cauchy/multipole_scheme.hpp"
#include "core/threads.hpp"

namespace structmat::cauchy::multipole {
namespace {

constexpr int most_children = 4;

/// Below, 1 / radius would overflow; a disc may be larger than its nodes ask for.
constexpr double least_radius = 0x1p-900;

/// A number above low and at most high, in the middle where rounding allows.
double middle(double low, double high) {
  const double m = low + (high - low) / 2;
  return m > low ? m : high;
}

/// Nodes and room to sort them in.
struct Nodes {
  double *re, *im;
  index_t* order;
  double *spare_re, *spare_im;
  index_t* spare_order;
};

/// Is a square of this coordinate, or of a difference of two such, out of range?
bool extreme(double x) {
  const double a = std::abs(x);
  return a > most_square_safe || (a > 0 && a < 0x1p-420);
}

/// The box of the nodes begin <= i < end, not split yet.
Box enclose(const Nodes& nodes, index_t begin, index_t end, index_t capacity, Bounds& bounds) {
  const double* re = nodes.re + begin;
  const double* im = nodes.im + begin;
  const index_t n = end - begin;
  bounds = bounds_of(re, im, n);
  Box box;
  box.begin = begin;
  box.end = end;
  const double half_width = bounds.high_re / 2 - bounds.low_re / 2;
  const double half_height = bounds.high_im / 2 - bounds.low_im / 2;
  box.disc.re = bounds.low_re + half_width;
  box.disc.im = bounds.low_im + half_height;
  if (bounds.low_re == bounds.high_re && bounds.low_im == bounds.high_im) {
    box.disc = {bounds.low_re, bounds.low_im, 0};
  } else {
    constexpr double rounding = 1 + 8 * epsilon<double>;
    // The centre is rounded by less than a corner's distance from the next number.
    const double slip = epsilon<double> * std::max(std::abs(box.disc.re), std::abs(box.disc.im));
    double radius = modulus(half_width, half_height) + slip;
    if (n <= capacity && radius > least_square_safe && radius < most_square_safe) {
      radius = std::sqrt(largest_square(re, im, n, box.disc));
    }
    box.disc.radius = std::max(radius * rounding, least_radius);
  }
  if (n <= capacity || box.disc.radius == 0) {
    const index_t distinct = box.disc.radius == 0 ? 1 : n;
    for (index_t i = 0; i < distinct && !box.extreme; ++i) {
      box.extreme = extreme(re[i]) || extreme(im[i]);
    }
  }
  return box;
}

/// The non-empty parts of a box.
struct Parts {
  std::array<Box, most_children> boxes;
  std::array<Bounds, most_children> bounds;
  int count = 0;
};

Parts split(const Nodes& nodes, const Box& box, const Bounds& bounds, index_t capacity) {
  const double width = bounds.high_re - bounds.low_re, height = bounds.high_im - bounds.low_im;
  // Two halves of one box are enough to come below the capacity.
  const bool both =
      box.size() > 2 * capacity && std::min(width, height) > std::max(width, height) / 2;
  const bool by_re = both || width >= height, by_im = both || width < height;
  const double re = by_re ? middle(bounds.low_re, bounds.high_re) : HUGE_VAL;
  const double im = by_im ? middle(bounds.low_im, bounds.high_im) : HUGE_VAL;
  const auto part = [&](index_t i) {
    return static_cast<int>(nodes.re[i] >= re) + 2 * static_cast<int>(nodes.im[i] >= im);
  };

  std::array<index_t, most_children + 1> start{};
  for (index_t i = box.begin; i < box.end; ++i) ++start[part(i) + 1];
  start[0] = box.begin;
  for (int c = 0; c < most_children; ++c) start[c + 1] += start[c];
  std::array<index_t, most_children> next;
  std::copy_n(start.begin(), most_children, next.begin());
  for (index_t i = box.begin; i < box.end; ++i) {
    const index_t to = next[part(i)]++;
    nodes.spare_re[to] = nodes.re[i];
    nodes.spare_im[to] = nodes.im[i];
    nodes.spare_order[to] = nodes.order[i];
  }
  std::copy_n(nodes.spare_re + box.begin, box.size(), nodes.re + box.begin);
  std::copy_n(nodes.spare_im + box.begin, box.size(), nodes.im + box.begin);
  std::copy_n(nodes.spare_order + box.begin, box.size(), nodes.order + box.begin);

  Parts parts;
  for (int c = 0; c < most_children; ++c) {
    if (start[c] == start[c + 1]) continue;
    parts.boxes[parts.count] =
        enclose(nodes, start[c], start[c + 1], capacity, parts.bounds[parts.count]);
    ++parts.count;
  }
  return parts;
}

}  // namespace

template <RealScalar R>
Tree::Tree(View<const std::complex<R>, 1> nodes, index_t capacity, int team)
    : re_({nodes.extent(0)}, uninitialized),
      im_({nodes.extent(0)}, uninitialized),
      order_({nodes.extent(0)}, uninitialized) {
  for (index_t i = 0; i < nodes.extent(0); ++i) {
    const std::complex<R>& z = nodes(i);
    re_.data()[i] = static_cast<double>(z.real());
    im_.data()[i] = static_cast<double>(z.imag());
    order_.data()[i] = i;
  }
  if (size() > 0) split_all(capacity, team);
}

void Tree::split_all(index_t capacity, int team) {
  Array<double, 1> spare_re({size()}, uninitialized), spare_im({size()}, uninitialized);
  Array<index_t, 1> spare_order({size()}, uninitialized);
  const Nodes nodes{re_.data(),      im_.data(),      order_.data(),
                    spare_re.data(), spare_im.data(), spare_order.data()};
  std::vector<Bounds> bounds(1), next_bounds;
  boxes_ = {enclose(nodes, 0, size(), capacity, bounds[0])};
  levels_ = {0, 1};
  std::vector<Parts> parts;
  for (;;) {
    const index_t first = levels_[levels_.size() - 2], count = levels_.back() - first;
    parts.assign(count, {});
    const index_t grain = std::clamp<index_t>(count / 64, 1, 64);
    parallel_for(team, (count + grain - 1) / grain, [&](index_t g) {
      for (index_t b = g * grain; b < std::min(count, (g + 1) * grain); ++b) {
        const Box& box = boxes_[first + b];
        if (box.size() > capacity && box.disc.radius > 0) {
          parts[b] = split(nodes, box, bounds[b], capacity);
        }
      }
    });
    next_bounds.clear();
    for (index_t b = 0; b < count; ++b) {
      boxes_[first + b].first_child = static_cast<index_t>(boxes_.size());
      boxes_[first + b].children = parts[b].count;
      for (int c = 0; c < parts[b].count; ++c) {
        boxes_.push_back(parts[b].boxes[c]);
        next_bounds.push_back(parts[b].bounds[c]);
      }
    }
    if (next_bounds.empty()) return;
    bounds.swap(next_bounds);
    levels_.push_back(static_cast<index_t>(boxes_.size()));
  }
}

template Tree::Tree(View<const std::complex<float>, 1>, index_t, int);
template Tree::Tree(View<const std::complex<double>, 1>, index_t, int);

}  // namespace structmat::cauchy::multipole
