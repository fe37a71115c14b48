#include "cauchy/multipole_tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

/// Nodes that one thread counts or moves at a time, in boxes with more of them.
constexpr index_t chunk = 1 << 15;

/// task(begin, end) for the chunks of a range.
template <class Task>
void over_chunks(int team, index_t begin, index_t end, const Task& task) {
  parallel_for(team, (end - begin + chunk - 1) / chunk, [&](index_t g) {
    task(g, begin + g * chunk, std::min(end, begin + (g + 1) * chunk));
  });
}

/// Lines that divide a box: nodes on a line belong to its upper side.
struct Lines {
  double re, im;

  int part(double x, double y) const {
    return static_cast<int>(x >= re) + 2 * static_cast<int>(y >= im);
  }
};

Lines lines_through(const Bounds& bounds, bool may_be_both) {
  const double width = bounds.high_re - bounds.low_re, height = bounds.high_im - bounds.low_im;
  const bool both = may_be_both && std::min(width, height) > std::max(width, height) / 2;
  return {both || width >= height ? middle(bounds.low_re, bounds.high_re) : HUGE_VAL,
          both || width < height ? middle(bounds.low_im, bounds.high_im) : HUGE_VAL};
}

using PerPart = std::array<index_t, most_children>;

PerPart count_parts(const Nodes& nodes, index_t begin, index_t end, const Lines& lines) {
  index_t right = 0, upper = 0, both = 0;
  for (index_t i = begin; i < end; ++i) {
    const index_t r = nodes.re[i] >= lines.re, u = nodes.im[i] >= lines.im;
    right += r;
    upper += u;
    both += r & u;
  }
  return {end - begin - right - upper + both, right - both, upper - both, both};
}

/// The non-empty parts of a box.
struct Parts {
  std::array<Box, most_children> boxes;
  std::array<Bounds, most_children> bounds;
  int count = 0;
};

Parts split(const Nodes& nodes, const Box& box, const Bounds& bounds, index_t capacity, int team) {
  // Two halves of one box are enough to come below the capacity.
  const Lines lines = lines_through(bounds, box.size() > 2 * capacity);
  std::vector<PerPart> next((box.size() + chunk - 1) / chunk);
  over_chunks(team, box.begin, box.end, [&](index_t g, index_t begin, index_t end) {
    next[g] = count_parts(nodes, begin, end, lines);
  });
  Parts parts;
  index_t at = box.begin;
  for (int c = 0; c < most_children; ++c) {
    const index_t begin = at;
    for (PerPart& of_chunk : next) at += std::exchange(of_chunk[c], at);
    if (at == begin) continue;
    parts.boxes[parts.count].begin = begin;
    parts.boxes[parts.count++].end = at;
  }
  over_chunks(team, box.begin, box.end, [&](index_t g, index_t begin, index_t end) {
    PerPart to = next[g];
    for (index_t i = begin; i < end; ++i) {
      const index_t j = to[lines.part(nodes.re[i], nodes.im[i])]++;
      nodes.spare_re[j] = nodes.re[i];
      nodes.spare_im[j] = nodes.im[i];
      nodes.spare_order[j] = nodes.order[i];
    }
  });
  over_chunks(team, box.begin, box.end, [&](index_t, index_t begin, index_t end) {
    std::copy(nodes.spare_re + begin, nodes.spare_re + end, nodes.re + begin);
    std::copy(nodes.spare_im + begin, nodes.spare_im + end, nodes.im + begin);
    std::copy(nodes.spare_order + begin, nodes.spare_order + end, nodes.order + begin);
  });
  parallel_for(team, parts.count, [&](index_t c) {
    Box& part = parts.boxes[c];
    part = enclose(nodes, part.begin, part.end, capacity, parts.bounds[c]);
  });
  return parts;
}

}  // namespace

template <RealScalar R>
Tree::Tree(View<const std::complex<R>, 1> nodes, index_t capacity, int team)
    : re_({nodes.extent(0)}, uninitialized),
      im_({nodes.extent(0)}, uninitialized),
      order_({nodes.extent(0)}, uninitialized) {
  over_chunks(team, 0, size(), [&](index_t, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      const std::complex<R>& z = nodes(i);
      re_.data()[i] = static_cast<double>(z.real());
      im_.data()[i] = static_cast<double>(z.imag());
      order_.data()[i] = i;
    }
  });
  if (size() > 0) split_all(capacity, team);
}

void Tree::split_all(index_t capacity, int team) {
  Array<double, 1> spare_re({size()}, uninitialized), spare_im({size()}, uninitialized);
  Array<index_t, 1> spare_order({size()}, uninitialized);
  const Nodes nodes{re_.data(),      im_.data(),      order_.data(),
                    spare_re.data(), spare_im.data(), spare_order.data()};
  bounds_.resize(1);
  boxes_ = {enclose(nodes, 0, size(), capacity, bounds_[0])};
  levels_ = {0};
  std::vector<Parts> parts;
  while (levels_.back() < static_cast<index_t>(boxes_.size())) {
    const index_t first = levels_.back(), count = static_cast<index_t>(boxes_.size()) - first;
    levels_.push_back(first + count);
    parts.assign(count, {});
    const auto split_one = [&](index_t b, int own_team) {
      const Box& box = boxes_[first + b];
      if (box.size() <= capacity || box.disc.radius == 0) return;
      parts[b] = split(nodes, box, bounds_[first + b], capacity, own_team);
    };
    // Large boxes by all threads, then one thread a box.
    const auto large = [&](index_t b) { return boxes_[first + b].size() > 2 * chunk; };
    for (index_t b = 0; b < count; ++b) {
      if (large(b)) split_one(b, team);
    }
    const index_t grain = std::clamp<index_t>(count / 64, 1, 64);
    parallel_for(team, (count + grain - 1) / grain, [&](index_t g) {
      for (index_t b = g * grain; b < std::min(count, (g + 1) * grain); ++b) {
        if (!large(b)) split_one(b, 1);
      }
    });
    for (index_t b = 0; b < count; ++b) {
      boxes_[first + b].first_child = static_cast<index_t>(boxes_.size());
      boxes_[first + b].children = parts[b].count;
      boxes_.insert(boxes_.end(), parts[b].boxes.begin(), parts[b].boxes.begin() + parts[b].count);
      bounds_.insert(bounds_.end(), parts[b].bounds.begin(),
                     parts[b].bounds.begin() + parts[b].count);
    }
  }
}

template Tree::Tree(View<const std::complex<float>, 1>, index_t, int);
template Tree::Tree(View<const std::complex<double>, 1>, index_t, int);

}  // namespace structmat::cauchy::multipole
