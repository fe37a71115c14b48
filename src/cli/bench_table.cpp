#include "bench_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace structmat::cli {
namespace {

std::string header(const BenchTable& t) {
  const std::string device =
      t.device_copy_gb_per_s ? fmt::format(", device {:.0f} GB/s", *t.device_copy_gb_per_s) : "";
  return fmt::format("{} {}, {}{} | {} | copy {:.1f} GB/s{} | dense up to {:g} GB | medians",
                     t.family, t.op, t.transition.empty() ? "" : t.transition + " transitions, ",
                     t.dtype, t.machine, t.copy_gb_per_s, device, t.dense_limit_gb);
}

std::string optional(const std::optional<double>& value, const char* format, const char* absent) {
  return value ? fmt::format(fmt::runtime(format), *value) : absent;
}

constexpr const char* warning =
    "! median more than twice the fastest run: the processors were busy with something else, or "
    "there are more "
    "threads than free processors; do not quote these rows.";

std::string markdown(const BenchTable& t) {
  std::string text = header(t) + "\n\n";
  text +=
      "| backend |      n | order | rhs |         ms |   dense ms |   ratio |   GB/s | of copy |   "
      "error |\n"
      "|---------|-------:|------:|----:|-----------:|-----------:|--------:|-------:|--------:|---"
      "-----:|\n";
  bool any_unsteady = false;
  for (const BenchRow& r : t.rows) {
    const auto ratio = r.dense_ms ? std::optional(*r.dense_ms / r.ms) : std::nullopt;
    const bool unsteady = is_unsteady(r);
    any_unsteady = any_unsteady || unsteady;
    text += fmt::format(
        "| {:7} | {:6} | {:5} | {:3} | {:10.4f} | {:>10} | {:>7} | {:6.2f} | {:>7} | {:>7} |{}\n",
        r.backend, r.n, r.order, r.rhs, r.ms, optional(r.dense_ms, "{:.4f}", "-"),
        optional(ratio, "{:.2f}", "-"), r.gb_per_s,
        r.copy_fraction ? fmt::format("{:.0f}%", 100 * *r.copy_fraction) : "-",
        optional(r.error, "{:.1e}", "-"), unsteady ? " !" : "");
  }
  if (any_unsteady) text += std::string("\n") + warning + "\n";
  return text;
}

std::string csv(const BenchTable& t) {
  std::string text = "# " + header(t) + "\n";
  text +=
      "backend,n,order,rhs,ms,fastest_ms,repetitions,dense_ms,dense_fastest_ms,gb_per_s,copy_"
      "fraction,"
      "error\n";
  for (const BenchRow& r : t.rows) {
    text +=
        fmt::format("{},{},{},{},{:.6g},{:.6g},{},{},{},{:.4g},{},{}\n", r.backend, r.n, r.order,
                    r.rhs, r.ms, r.fastest_ms, r.repetitions, optional(r.dense_ms, "{:.6g}", ""),
                    optional(r.dense_fastest_ms, "{:.6g}", ""), r.gb_per_s,
                    optional(r.copy_fraction, "{:.4g}", ""), optional(r.error, "{:.3g}", ""));
  }
  return text;
}

std::string json(const BenchTable& t) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json rows = Json::array();
  for (const BenchRow& r : t.rows) {
    rows.push_back({{"backend", r.backend},
                    {"n", r.n},
                    {"order", r.order},
                    {"rhs", r.rhs},
                    {"ms", r.ms},
                    {"fastest_ms", r.fastest_ms},
                    {"unsteady", is_unsteady(r)},
                    {"repetitions", r.repetitions},
                    {"dense_ms", number(r.dense_ms)},
                    {"dense_fastest_ms", number(r.dense_fastest_ms)},
                    {"gb_per_s", r.gb_per_s},
                    {"copy_fraction", number(r.copy_fraction)},
                    {"error", number(r.error)}});
  }
  const Json table{{"family", t.family},
                   {"op", t.op},
                   {"transition", t.transition.empty() ? Json() : Json(t.transition)},
                   {"dtype", t.dtype},
                   {"machine", t.machine},
                   {"copy_gb_per_s", t.copy_gb_per_s},
                   {"device_copy_gb_per_s", number(t.device_copy_gb_per_s)},
                   {"dense_limit_gb", t.dense_limit_gb},
                   {"rows", rows}};
  return table.dump(2) + "\n";
}

}  // namespace

bool is_unsteady(const BenchRow& row) {
  return row.ms > 2 * row.fastest_ms || (row.dense_ms && *row.dense_ms > 2 * *row.dense_fastest_ms);
}

std::string format_table(const BenchTable& table, const std::string& format) {
  if (format == "csv") return csv(table);
  if (format == "json") return json(table);
  return markdown(table);
}

}  // namespace structmat::cli
