// structmat check --from probes: orders by random compressions.
#include "check.hpp"
#include "progress.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/semiseparable/apply.hpp"
#include "structmat/verify/randomised.hpp"

namespace structmat::cli {
namespace {

const char* name(verify::Verdict verdict) {
  switch (verdict) {
    case verify::Verdict::holds:
      return "holds";
    case verify::Verdict::violated:
      return "violated";
    case verify::Verdict::undecided:
      break;
  }
  return "undecided";
}

std::string part_name(const verify::CompressedBlock& block) {
  if (!block.part) return "lower and upper";
  return *block.part == verify::Part::lower ? "lower" : "upper";
}

/// where: nothing, or the execution object of a device.
template <class M, class... Where>
verify::RandomisedReport examine(const M& m, index_t n, const CheckOptions& options,
                                 const Where&... where) {
  Progress progress("structmat check");
  verify::RandomisedOptions asked;
  asked.order = *asked_order(options, n);
  asked.tolerance = options.tolerance;
  asked.seed = options.seed;
  asked.progress = [&progress](double fraction) { progress.set(fraction); };
  return verify::randomised(where..., m, asked);
}

void print_text(const CheckOptions& options, const std::string& description,
                const verify::RandomisedReport& report) {
  const bool sum = report.claim == verify::OrderClaim::sum;
  print_line("file", options.file + ": " + description);
  print_line("property", options.property + ", by random probes");
  print_line(
      "asked",
      sum ? fmt::format("lower plus upper at most {}", report.asked.lower + report.asked.upper)
          : fmt::format("lower {}, upper {}", at_most(report.asked.lower, report.size),
                        at_most(report.asked.upper, report.size)));
  switch (report.verdict) {
    case verify::Verdict::holds:
      print_line("verdict",
                 fmt::format("holds, but for a probability of {:.2g}", report.failure_probability));
      break;
    case verify::Verdict::violated:
      print_line("verdict", "DOES NOT HOLD, with certainty");
      break;
    case verify::Verdict::undecided:
      print_line("verdict", "UNDECIDED at this tolerance");
      break;
  }
  print_line("tolerance", fmt::format("{:.3g} times ||M||_F", report.tolerance));
  print_line("detectable", fmt::format("{:.3g}", report.detectable));
  print_line("||M||_F", fmt::format("{:.6g}{}", report.frobenius_norm, sum ? ", estimated" : ""));
  print_line("probes", fmt::format("{} on each side, seed {}", report.probes, report.seed));
  if (report.worst && report.verdict != verify::Verdict::holds) {
    print_line("worst block",
               fmt::format("{}, k = {}, value beyond the order at least {:.3g}",
                           part_name(*report.worst), report.worst->k, report.worst->lower_bound));
  }
}

void print_json(const CheckOptions& options, const verify::RandomisedReport& report) {
  Json json{{"file", options.file},
            {"property", options.property},
            {"holds", report.verdict == verify::Verdict::holds},
            {"verdict", name(report.verdict)},
            {"claim", report.claim == verify::OrderClaim::sum ? "sum" : "both"},
            {"size", report.size},
            {"asked", order_json(report.asked)},
            {"failure_probability", report.failure_probability},
            {"tolerance", report.tolerance},
            {"detectable", report.detectable},
            {"frobenius_norm", report.frobenius_norm},
            {"drift", report.drift},
            {"probes", report.probes},
            {"seed", report.seed},
            {"worst_block", nullptr}};
  if (report.worst) {
    json["worst_block"] = {{"part", part_name(*report.worst)},
                           {"k", report.worst->k},
                           {"lower_bound", report.worst->lower_bound}};
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status check_probes(const CheckOptions& options) {
  if (options.property != "quasiseparable") {
    throw UsageError("--from probes: quasiseparable orders only, not " + options.property);
  }
  if (!options.order && !options.lower && !options.upper) {
    throw UsageError("--from probes: an order must be asked for (--order, --lower, --upper)");
  }
  const AnyMatrix matrix = read_matrix(options.file);
  const std::string description = std::visit([](const auto& m) { return describe(m); }, matrix);
  const verify::RandomisedReport report = std::visit(
      Overloaded{[&](const io::DenseMatrix& dense) {
                   return std::visit(
                       [&](const auto& m) {
                         return options.on_device()
                                    ? examine(to_device(m), m.extent(0), options, exec::cuda{})
                                    : examine(m, m.extent(0), options);
                       },
                       dense);
                 },
                 [&](const io::AnyGenerators& generators) {
                   if (options.on_device()) {
                     throw Unsupported("backend cuda: probes of a dense matrix, not of generators");
                   }
                   return std::visit([&](const auto& m) { return examine(m, m.size(), options); },
                                     generators);
                 }},
      matrix);
  if (options.json) {
    print_json(options, report);
  } else {
    print_text(options, description, report);
  }
  return report.verdict == verify::Verdict::holds ? done : refuted;
}

}  // namespace structmat::cli
