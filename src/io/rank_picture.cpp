#include "structmat/io/rank_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "heat_map.hpp"
#include "structmat/dense/norm.hpp"
#include "structmat/io/atomic_file.hpp"
#include "svg.hpp"

namespace structmat::io {

namespace {

using detail::coordinate;
using detail::HeatMap;
using detail::max_cells;
using detail::Svg;
using detail::three_digits;
using verify::Report;

constexpr const char* operation = "io::write_rank_picture";

constexpr double width = 900, height = 580, height_with_decay = 850;
// 384 = 3 * 128: cells of large matrices are whole pixels.
constexpr double matrix_x = 76, matrix_y = 134, matrix_side = 384;
constexpr double band = 13;
constexpr double plot_x = 548, plot_y = 134, plot_width = 322, plot_height = 222;

constexpr const char* lower_colour = "#0072b2";
constexpr const char* upper_colour = "#d55e00";
constexpr const char* worst_style =
    "stroke=\"#000000\" stroke-width=\"2\" stroke-dasharray=\"7 4\"";

std::string number(index_t i) {
  return std::to_string(i);
}

/// Where axes from 0 to n are labelled.
std::vector<index_t> ticks(index_t n) {
  if (n < 2) return {n};
  return {0, n / 2, n};
}

/// t from 0 to 1 along the map "plasma" from orange to dark blue, without its yellow end, which
/// would be too faint on white. Its lightness falls evenly, so it reads the same with colour
/// blindness and in grey.
std::string rank_colour(index_t rank, index_t max_rank) {
  static constexpr std::array<std::array<double, 3>, 7> stops{{{253, 180, 47},
                                                               {247, 148, 66},
                                                               {229, 107, 93},
                                                               {203, 71, 120},
                                                               {164, 31, 154},
                                                               {110, 0, 168},
                                                               {13, 8, 135}}};
  const double t = max_rank == 0 ? 0 : static_cast<double>(rank) / static_cast<double>(max_rank);
  const double at = t * (stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  std::array<double, 3> rgb{};
  for (std::size_t c = 0; c < 3; ++c) {
    rgb[c] = stops[i][c] + (at - static_cast<double>(i)) * (stops[i + 1][c] - stops[i][c]);
  }
  return detail::rgb_colour(rgb);
}

/// k of entry 0 of the profiles: 0 where blocks include the diagonal.
index_t first_k(const Report& report) {
  return report.property == "semiseparable" ? 0 : 1;
}

/// Blocks lie with their corner at the diagonal. The cells of one profile go along it.
void draw_ranks(Svg& svg, const Report& report, verify::Part part, index_t max_rank) {
  const bool lower = part == verify::Part::lower;
  const std::vector<index_t>& ranks = lower ? report.lower : report.upper;
  const index_t n = report.size;
  const index_t blocks = n - first_k(report);
  const index_t cells = std::min(blocks, max_cells);
  const double unit = matrix_side / static_cast<double>(n);
  const double thickness = std::max(unit, band);
  svg.open(std::string("class=\"ranks ") + (lower ? "lower" : "upper") +
           "\" shape-rendering=\"crispEdges\"");
  for (index_t c = 0; c < cells; ++c) {
    const index_t begin = c * blocks / cells;
    const index_t end = std::min<index_t>((c + 1) * blocks / cells, ranks.size());
    if (begin >= end) break;
    const index_t rank = *std::max_element(ranks.begin() + begin, ranks.begin() + end);
    // Block t ends at column t and begins at row t + 1, or t with the diagonal.
    const double along = unit * static_cast<double>(begin);
    const double length = unit * static_cast<double>(end - begin);
    const double from = unit * static_cast<double>(end - 1 + first_k(report));
    const double depth = std::min(thickness, matrix_side - from);
    const std::string fill = "fill=\"" + rank_colour(rank, max_rank) + "\"";
    if (lower) {
      svg.rect(matrix_x + along, matrix_y + from, length, depth, fill);
    } else {
      svg.rect(matrix_x + from, matrix_y + along, depth, length, fill);
    }
  }
  svg.close();
}

void draw_worst_block(Svg& svg, const Report& report) {
  if (!report.worst_block) return;
  const verify::Block& block = *report.worst_block;
  const double unit = matrix_side / static_cast<double>(report.size);
  const auto at = [&](index_t i) { return unit * static_cast<double>(i); };
  svg.open("class=\"worst\" fill=\"none\"");
  for (const char* style : {"stroke=\"#ffffff\" stroke-width=\"4\"", worst_style}) {
    svg.rect(matrix_x + at(block.col_begin), matrix_y + at(block.row_begin),
             at(block.col_end - block.col_begin), at(block.row_end - block.row_begin), style);
  }
  svg.close();
}

void draw_matrix(Svg& svg, const HeatMap& entries, const Report& report, index_t max_rank) {
  svg.text(matrix_x, matrix_y - 28, "Entries, and ranks of the blocks at the diagonal",
           "font-weight=\"bold\"");
  entries.draw(svg, matrix_x, matrix_y, matrix_side);
  draw_ranks(svg, report, verify::Part::lower, max_rank);
  draw_ranks(svg, report, verify::Part::upper, max_rank);
  draw_worst_block(svg, report);
  svg.rect(matrix_x, matrix_y, matrix_side, matrix_side, "fill=\"none\" stroke=\"#1a1a1a\"");

  const index_t n = report.size;
  for (const index_t tick : ticks(n)) {
    const double at = n == 0 ? 0 : matrix_side * static_cast<double>(tick) / static_cast<double>(n);
    svg.text(matrix_x + at, matrix_y - 7, number(tick), "text-anchor=\"middle\"");
    svg.text(matrix_x - 7, matrix_y + at + 5, number(tick), "text-anchor=\"end\"");
  }
  svg.text(matrix_x + matrix_side / 4, matrix_y - 7, "column j", "text-anchor=\"middle\"");
  svg.vertical_text(matrix_x - 12, matrix_y + matrix_side / 4, "row i");
}

/// Places ranks over k.
class Plot {
 public:
  Plot(index_t n, index_t max_rank)
      : n_(static_cast<double>(std::max<index_t>(n, 1))),
        // Room above the curves, so that a constant rank does not run along the frame.
        top_(1.15 * static_cast<double>(std::max<index_t>(max_rank, 1))) {}

  double x(double k) const { return plot_x + plot_width * k / n_; }
  double y(double rank) const { return plot_y + plot_height * (1 - rank / top_); }
  double top() const { return top_; }

 private:
  double n_, top_;
};

std::string point(const char* command, double x, double y) {
  return command + coordinate(x) + " " + coordinate(y);
}

/// Where many blocks share a pixel, the curve goes through the smallest and the largest rank among
/// them.
void draw_curve(Svg& svg, const Plot& plot, const std::vector<index_t>& ranks, index_t first,
                std::string_view attributes) {
  const auto blocks = static_cast<index_t>(ranks.size());
  const index_t points = std::min<index_t>(blocks, static_cast<index_t>(plot_width));
  std::string commands;
  for (index_t c = 0; c < points; ++c) {
    const index_t begin = c * blocks / points, end = (c + 1) * blocks / points;
    const auto [low, high] = std::minmax_element(ranks.begin() + begin, ranks.begin() + end);
    const double x = plot.x(static_cast<double>(first + begin));
    commands += point(commands.empty() ? "M" : "L", x, plot.y(static_cast<double>(*low)));
    if (*high != *low) commands += point("L", x, plot.y(static_cast<double>(*high)));
  }
  if (blocks == 1) commands += "h4";
  if (!commands.empty()) svg.path(commands, attributes);
}

/// 1, 2 or 5 times a power of ten, so that at most `ticks` steps reach `top`.
index_t tick_step(double top, int ticks) {
  for (index_t power = 1;; power *= 10) {
    for (index_t step : {power, 2 * power, 5 * power}) {
      if (top <= static_cast<double>(step * ticks)) return step;
    }
  }
}

void draw_profile(Svg& svg, const Report& report, index_t max_rank) {
  const index_t n = report.size;
  const Plot plot(n, max_rank);
  const double right = plot_x + plot_width, bottom = plot_y + plot_height;
  svg.text(plot_x, plot_y - 28, "Rank of every block", "font-weight=\"bold\"");

  svg.open("stroke=\"#d9d9d9\"");
  const index_t step = tick_step(plot.top(), 6);
  for (index_t r = step; static_cast<double>(r) <= plot.top(); r += step) {
    svg.line(plot_x, plot.y(static_cast<double>(r)), right, plot.y(static_cast<double>(r)));
  }
  svg.close();
  for (index_t r = 0; static_cast<double>(r) <= plot.top(); r += step) {
    svg.text(plot_x - 7, plot.y(static_cast<double>(r)) + 5, number(r), "text-anchor=\"end\"");
  }
  for (const index_t tick : ticks(n)) {
    svg.text(plot.x(static_cast<double>(tick)), bottom + 17, number(tick),
             "text-anchor=\"middle\"");
  }

  // What a matrix without structure has, min(k + shift, n - k). Cut where it leaves the plot.
  const index_t first = first_k(report);
  const auto size = static_cast<double>(n), shift = static_cast<double>(1 - first);
  const double peak = std::min((size + shift) / 2, plot.top());
  svg.path(point("M", plot.x(0), plot.y(shift)) + point("L", plot.x(peak - shift), plot.y(peak)) +
               point(peak < plot.top() ? "L" : "M", plot.x(size - peak), plot.y(peak)) +
               point("L", right, bottom),
           "fill=\"none\" stroke=\"#8c8c8c\" stroke-dasharray=\"2 3\"");
  draw_curve(svg, plot, report.lower, first,
             std::string("class=\"profile\" fill=\"none\" stroke-width=\"2.5\" stroke=\"") +
                 lower_colour + "\"");
  draw_curve(svg, plot, report.upper, first,
             std::string("class=\"profile\" fill=\"none\" stroke-width=\"2.5\" "
                         "stroke-dasharray=\"8 6\" stroke=\"") +
                 upper_colour + "\"");
  svg.rect(plot_x, plot_y, plot_width, plot_height, "fill=\"none\" stroke=\"#1a1a1a\"");

  const std::string plus = first == 0 ? "+1" : "";
  svg.text(plot_x + plot_width / 4, bottom + 17, "k",
           "text-anchor=\"middle\" font-style=\"italic\"");
  svg.vertical_text(plot_x - 34, plot_y + plot_height / 2, "rank");

  const double y = bottom + 42;
  svg.open(std::string("stroke-width=\"2.5\" stroke=\"") + lower_colour + "\"");
  svg.line(plot_x, y - 4, plot_x + 30, y - 4);
  svg.close();
  svg.text(plot_x + 36, y, "lower, M(k:n, 0:k" + plus + ")");
  svg.open(std::string("stroke-width=\"2.5\" stroke-dasharray=\"8 6\" stroke=\"") + upper_colour +
           "\"");
  svg.line(plot_x + 176, y - 4, plot_x + 206, y - 4);
  svg.close();
  svg.text(plot_x + 212, y, "upper, M(0:k" + plus + ", k:n)");
  svg.open("stroke=\"#8c8c8c\" stroke-dasharray=\"2 3\"");
  svg.line(plot_x, y + 16, plot_x + 30, y + 16);
  svg.close();
  svg.text(plot_x + 36, y + 20,
           "full rank, min(k" + plus + ", n \u2212 k), up to " + number((n + 1 - first) / 2));
}

void draw_legends(Svg& svg, const HeatMap& entries, const Report& report, index_t max_rank) {
  constexpr double x = plot_x + 128, bar = plot_width - 128;
  double y = plot_y + plot_height + 86;
  svg.text(plot_x, y + 11, "rank of a block");
  const index_t steps = std::min<index_t>(max_rank + 1, 16);
  const double step = bar / static_cast<double>(steps);
  for (index_t s = 0; s < steps; ++s) {
    const index_t rank = steps == 1 ? 0 : s * max_rank / (steps - 1);
    const double left = x + step * static_cast<double>(s);
    svg.rect(left, y, step, 14,
             "shape-rendering=\"crispEdges\" fill=\"" + rank_colour(rank, max_rank) + "\"");
    if (steps <= 12 || s == 0 || s == steps - 1) {
      svg.text(left + step / 2, y + 28, number(rank), "text-anchor=\"middle\" font-size=\"12\"");
    }
  }
  y += 44;
  svg.text(plot_x, y + 11, "|entry|, log scale");
  entries.draw_legend(svg, x, y, bar);

  if (!report.worst_block) return;
  const verify::Block& block = *report.worst_block;
  const bool lower = block.part == verify::Part::lower;
  const std::vector<index_t>& ranks = lower ? report.lower : report.upper;
  const index_t t = (lower ? block.row_begin : block.col_begin) - first_k(report);
  const bool known = t >= 0 && t < static_cast<index_t>(ranks.size());
  y = matrix_y + matrix_side + 26;
  svg.path(point("M", matrix_x, y - 4) + "h30", worst_style);
  svg.text(matrix_x + 36, y,
           std::string(report.asked ? "worst block" : "block of largest rank") + ": M(" +
               number(block.row_begin) + ":" + number(block.row_end) + ", " +
               number(block.col_begin) + ":" + number(block.col_end) + ")" +
               (known ? ", rank " + number(ranks[t]) : ""));
}

/// Singular values of some blocks, on a logarithmic scale over their index.
void draw_decay(Svg& svg, const Report& report) {
  constexpr double left = matrix_x, top = height + 36, side = 560, tall = 200;
  constexpr double most_decades = 20;
  // What lies further below the reference is drawn at the bottom.
  double lowest = std::clamp(std::floor(std::log10(std::max(report.tolerance, 1e-300))) - 2,
                             -most_decades, -2.0);
  std::size_t count = 1;
  for (const verify::Block& b : report.blocks) {
    count = std::max(count, b.singular_values.size());
    for (const double v : b.singular_values) {
      if (v > 0) lowest = std::clamp(std::floor(std::log10(v)), -most_decades, lowest);
    }
  }
  const auto x = [&](std::size_t l) {
    return left + side * (static_cast<double>(l) + 0.5) / static_cast<double>(count);
  };
  const auto y = [&](double value) {
    const double decade = value > 0 ? std::max(std::log10(value), lowest) : lowest;
    return top + tall * std::min(1.0, decade / lowest);
  };
  svg.text(left, top - 12, "Singular values of some blocks, relative to the reference",
           "font-weight=\"bold\"");
  const index_t step = tick_step(-lowest, 5);
  for (index_t decade = 0; static_cast<double>(decade) <= -lowest; decade += step) {
    const double at = y(std::pow(10.0, -static_cast<double>(decade)));
    svg.open("stroke=\"#d9d9d9\"");
    svg.line(left, at, left + side, at);
    svg.close();
    svg.text(left - 7, at + 5, decade == 0 ? "1" : "1e\u2212" + number(decade),
             "text-anchor=\"end\"");
  }
  svg.open("class=\"tolerance\" stroke=\"#8c8c8c\" stroke-dasharray=\"2 3\"");
  svg.line(left, y(report.tolerance), left + side, y(report.tolerance));
  svg.close();
  svg.text(left + side + 8, y(report.tolerance) + 5, "tolerance", "fill=\"#4d4d4d\"");

  // Blocks of one triangle differ in their dashes.
  static constexpr std::array<const char*, 4> dashes{"", "10 5", "4 4", "2 6"};
  std::array<std::size_t, 2> drawn{};
  double legend = top + 40;
  for (const verify::Block& b : report.blocks) {
    const bool lower = b.part == verify::Part::lower;
    const std::string style = std::string("fill=\"none\" stroke-width=\"2\" stroke=\"") +
                              (lower ? lower_colour : upper_colour) + "\" stroke-dasharray=\"" +
                              dashes[drawn[lower ? 0 : 1]++ % dashes.size()] + "\"";
    std::string commands;
    for (std::size_t l = 0; l < b.singular_values.size(); ++l) {
      commands += point(commands.empty() ? "M" : "L", x(l), y(b.singular_values[l]));
    }
    if (b.singular_values.size() == 1) commands += "h4";
    if (!commands.empty()) svg.path(commands, "class=\"decay\" " + style);
    svg.path(point("M", left + side + 92, legend - 4) + "h30", style);
    svg.text(left + side + 128, legend,
             (lower ? "lower, k = " : "upper, k = ") + number(lower ? b.row_begin : b.col_begin));
    legend += 20;
  }
  svg.rect(left, top, side, tall, "fill=\"none\" stroke=\"#1a1a1a\"");
  svg.text(left + side / 2, top + tall + 18, "index", "text-anchor=\"middle\"");
}

std::string verdict(const Report& report) {
  std::string text = report.property + " order: lower " + number(report.order.lower) + ", upper " +
                     number(report.order.upper);
  if (!report.complete) text += " or more";
  text += " (n = " + number(report.size);
  if (report.asked) {
    text += "; asked: " + number(report.asked->lower) + ", " + number(report.asked->upper) +
            (report.holds ? ", holds" : ", violated");
  }
  return text + ")";
}

std::string margins(const Report& report) {
  const char* reference = report.relative == verify::Relative::matrix ? "the Frobenius norm"
                                                                      : "the largest of the block";
  return "singular values relative to " + std::string(reference) + ": smallest kept " +
         three_digits(report.smallest_kept) + ", largest dropped " +
         three_digits(report.largest_dropped) + ", tolerance " + three_digits(report.tolerance);
}

template <Scalar T>
void write_picture(const std::filesystem::path& path, const View<const T, 2>& m,
                   const Report& report, const std::string& title) {
  const index_t n = m.extent(0);
  if (m.extent(1) != n || report.size != n) {
    throw ShapeError(std::string(operation) + ": the matrix is " + number(n) + " x " +
                     number(m.extent(1)) + ", the report is of size " + number(report.size));
  }
  dense::require_finite(operation, m);
  const HeatMap entries(m);
  const index_t max_rank = std::max(report.order.lower, report.order.upper);

  Svg svg(width, report.blocks.empty() ? height : height_with_decay, title);
  svg.text(matrix_x, 38, detail::shortened(title, 76), "font-size=\"20\" font-weight=\"bold\"");
  svg.text(matrix_x, 62, verdict(report), "class=\"order\" font-size=\"15\"");
  svg.text(matrix_x, 82, margins(report), "fill=\"#4d4d4d\"");
  draw_matrix(svg, entries, report, max_rank);
  draw_profile(svg, report, max_rank);
  draw_legends(svg, entries, report, max_rank);
  if (!report.blocks.empty()) draw_decay(svg, report);

  AtomicFile file(path, operation);
  file.write(std::move(svg).finish());
  file.commit();
}

}  // namespace

void write_rank_picture(const std::filesystem::path& path, View<const float, 2> m,
                        const Report& report, const std::string& title) {
  write_picture(path, m, report, title);
}
void write_rank_picture(const std::filesystem::path& path, View<const double, 2> m,
                        const Report& report, const std::string& title) {
  write_picture(path, m, report, title);
}
void write_rank_picture(const std::filesystem::path& path, View<const std::complex<float>, 2> m,
                        const Report& report, const std::string& title) {
  write_picture(path, m, report, title);
}
void write_rank_picture(const std::filesystem::path& path, View<const std::complex<double>, 2> m,
                        const Report& report, const std::string& title) {
  write_picture(path, m, report, title);
}

}  // namespace structmat::io
