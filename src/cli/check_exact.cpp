// structmat check --exact gfp | rational.
#include "check.hpp"
#include "exact_input.hpp"
#include "progress.hpp"
#include "structmat/core/error.hpp"

#if STRUCTMAT_HAVE_EXACT
#include "structmat/exact/completion.hpp"
#include "structmat/exact/displacement.hpp"
#include "structmat/exact/rank.hpp"
#include "structmat/exact/rank_profile.hpp"
#endif

namespace structmat::cli {

#if STRUCTMAT_HAVE_EXACT

namespace {

/// What was found, in the words of the report: text lines and the same for JSON.
struct Result {
  std::string field;
  index_t rows = 0, cols = 0;
  bool holds = true;
  std::optional<index_t> rank{};
  std::optional<exact::RankProfile> profile{};
  std::optional<bool> proved{};
  std::vector<std::uint32_t> primes{};
};

exact::Blocks blocks_of(const std::string& property) {
  return property == "semiseparable" ? exact::Blocks::with_diagonal : exact::Blocks::strict;
}

void profile_of(const exact::Matrix<exact::PrimeField>& m, const CheckOptions& options,
                Result& result) {
  result.profile = exact::rank_profile(m, blocks_of(options.property));
}

void profile_of(const exact::Matrix<exact::RationalField>& m, const CheckOptions& options,
                Result& result) {
  const auto found = exact::rank_profile(m, {.blocks = blocks_of(options.property),
                                             .seed = options.seed,
                                             .deterministic = options.prove});
  result.profile = found.ranks;
  result.proved = found.proved;
  result.primes = found.primes;
}

/// Is everything above the diagonal zero?
template <exact::Field F>
bool is_lower_triangular(const exact::Matrix<F>& m) {
  for (index_t i = 0; i < m.rows(); ++i) {
    for (index_t j = i + 1; j < m.cols(); ++j) {
      if (m.field().weight(m(i, j)) > 0) return false;
    }
  }
  return true;
}

/// Z_F or Z_F^T; nodes belong to floating point.
template <exact::Field F>
exact::Matrix<F> parse_operator(const F& field, const std::string& option, const std::string& text,
                                index_t n) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "z" && kind != "zt")) {
    throw UsageError(fmt::format("{}: with --exact \"{}\" must be z:F or zt:F", option, text));
  }
  const auto corner = image(field, exact::Rational::parse(text.substr(colon + 1)));
  const auto z = exact::down_shift(field, n, corner);
  return kind == "z" ? z : z.transposed();
}

template <exact::Field F>
Result examine(const exact::Matrix<F>& m, const CheckOptions& options) {
  Result result{.field = m.field().name(), .rows = m.rows(), .cols = m.cols()};
  if (options.property == "low-rank") {
    result.rank = exact::rank(m);
  } else if (options.property == "displacement") {
    const auto kind = options.stein ? exact::Displacement::stein : exact::Displacement::sylvester;
    const auto left = parse_operator(m.field(), "--left", options.left, m.rows());
    const auto right = parse_operator(m.field(), "--right", options.right, m.cols());
    result.rank = exact::rank(exact::displaced(kind, left, m, right));
  } else if (options.property == "representable") {
    result.rank = exact::representable_order(m, exact::Blocks::strict);
  } else if (options.property == "quasiseparable" || options.property == "semiseparable") {
    profile_of(m, options, result);
    if (options.property == "semiseparable") {
      // As in floating point: of a triangular matrix its own half counts.
      if (is_lower_triangular(m)) {
        result.profile->upper.clear();
        result.profile->order.upper = 0;
      } else if (is_lower_triangular(m.transposed())) {
        result.profile->lower.clear();
        result.profile->order.lower = 0;
      }
    }
  } else {
    throw UsageError(
        "--exact: quasiseparable, semiseparable, representable, low-rank and "
        "displacement are offered, not " +
        options.property);
  }
  if (result.rank) {
    result.holds = !options.order || *result.rank <= *options.order;
  } else if (const auto asked = asked_order(options, m.rows())) {
    const Order& order = result.profile->order;
    result.holds = order.lower <= asked->lower && order.upper <= asked->upper;
  }
  return result;
}

void print_text(const CheckOptions& options, const Result& result) {
  print_line("file",
             fmt::format("{}: {} x {}, read exactly", options.file, result.rows, result.cols));
  print_line("property", options.property);
  print_line("field", result.field);
  if (result.rank) print_line("rank", std::to_string(*result.rank));
  if (result.profile) {
    print_line("order", fmt::format("lower {}, upper {}", result.profile->order.lower,
                                    result.profile->order.upper));
  }
  if (result.proved) {
    print_line("", *result.proved ? std::string("proved by elimination over the rationals")
                                  : fmt::format("the largest ranks modulo {}: lower bounds",
                                                fmt::join(result.primes, ", ")));
  }
  if (const auto asked = asked_order(options, result.rows)) {
    print_line("asked", result.rank
                            ? fmt::format("at most {}", asked->lower)
                            : fmt::format("lower {}, upper {}", at_most(asked->lower, result.rows),
                                          at_most(asked->upper, result.rows)));
    print_line("verdict", result.holds ? "holds" : "DOES NOT HOLD");
  }
}

void print_json(const CheckOptions& options, const Result& result) {
  const auto asked = asked_order(options, result.rows);
  Json json{{"file", options.file},
            {"property", options.property},
            {"field", result.field},
            {"holds", result.holds},
            {"rows", result.rows},
            {"cols", result.cols},
            {"asked", asked ? order_json(*asked) : Json()}};
  if (result.rank) json["rank"] = *result.rank;
  if (result.profile) {
    json["order"] = order_json(result.profile->order);
    json["rank_profile"] = {{"lower", result.profile->lower}, {"upper", result.profile->upper}};
  }
  if (result.proved) {
    json["proved"] = *result.proved;
    json["primes"] = result.primes;
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status check_exact(const CheckOptions& options) {
  if (!options.from.empty() && options.from != "dense") {
    throw UsageError("--exact reads entries: --from " + options.from + " does not go with it");
  }
  if (options.tolerance) throw UsageError("--exact: there is no tolerance in exact arithmetic");
  const Progress progress("structmat check");
  const Result result = with_exact_matrix(options.file, options.exact, options.prime,
                                          [&](const auto& m) { return examine(m, options); });
  if (options.json) {
    print_json(options, result);
  } else {
    print_text(options, result);
  }
  return result.holds ? done : refuted;
}

#else

Status check_exact(const CheckOptions&) {
  throw NotAvailable("--exact: this build has no exact arithmetic (STRUCTMAT_EXACT)");
}

#endif

}  // namespace structmat::cli
