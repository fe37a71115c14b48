// structmat complete: the diagonal that makes a strictly lower triangle semiseparable.
#include <memory>

#include "check.hpp"
#include "exact_input.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "structmat/core/error.hpp"
#include "structmat/verify/completion.hpp"

#if STRUCTMAT_HAVE_EXACT
#include "structmat/exact/completion.hpp"
#endif

namespace structmat::cli {
namespace {

struct CompleteOptions {
  std::string file, output, exact;
  std::optional<index_t> order{};
  std::optional<double> tolerance{};
  std::optional<std::uint32_t> prime{};
  bool json = false;
};

/// The result for every kind of number: values as text for people and as JSON.
struct Result {
  std::string description{}, field{};
  bool completable = false;
  index_t order = 0, minimal_order = 0;
  struct Entry {
    const char* kind;
    Json value;
    std::string text;
    index_t left, below, common, least;
  };
  std::vector<Entry> entries{};
  std::optional<index_t> blocking{};
  std::optional<double> tolerance{}, smallest_kept{}, largest_dropped{};
};

template <class Freedom>
const char* kind_name(Freedom freedom) {
  switch (freedom) {
    case Freedom::forced:
      return "forced";
    case Freedom::unique:
      return "unique";
    case Freedom::free:
      break;
  }
  return "free";
}

template <class Completion, class ToJson, class ToText>
void take(const Completion& found, const ToJson& to_json, const ToText& to_text, Result& result) {
  result.completable = found.completable;
  result.minimal_order = found.minimal_order;
  result.blocking = found.blocking;
  for (const auto& e : found.entries) {
    result.entries.push_back({kind_name(e.freedom), to_json(e.value), to_text(e.value), e.rank_left,
                              e.rank_below, e.rank_common, e.least_rank()});
  }
}

Json number_json(double x) {
  return x;
}
template <class R>
Json number_json(const std::complex<R>& x) {
  return Json::array({x.real(), x.imag()});
}
std::string number_text(double x) {
  return fmt::format("{:.17g}", x);
}
template <class R>
std::string number_text(const std::complex<R>& x) {
  return fmt::format("{:.17g}{:+.17g}i", x.real(), x.imag());
}

/// The lower triangle of m with the diagonal found.
template <Scalar T>
Array<T, 2> completed(View<const T, 2> m, const verify::Completion<T>& found) {
  const index_t n = m.extent(0);
  Array<T, 2> result({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < i; ++j) result(i, j) = m(i, j);
    result(i, i) = found.entries[i].value;
  }
  return result;
}

/// m: entries, or generators, which are not expanded.
template <Scalar T, class M>
verify::Completion<T> examine(const M& m, const CompleteOptions& options, Result& result) {
  auto found = [&] {
    const Progress progress("structmat complete");
    return verify::complete_diagonal(m, {.order = options.order, .tolerance = options.tolerance});
  }();
  take(
      found, [](const T& x) { return number_json(x); }, [](const T& x) { return number_text(x); },
      result);
  result.order = found.order;
  result.field = dtype_name<T>();
  result.tolerance = found.tolerance;
  result.smallest_kept = found.smallest_kept;
  result.largest_dropped = found.largest_dropped;
  return found;
}

template <Scalar T>
void write_completed(const Array<T, 2>& m, const verify::Completion<T>& found,
                     const CompleteOptions& options) {
  if (options.output.empty() || !found.completable) return;
  write_dense(options.output, View<const T, 2>(completed(View<const T, 2>(m), found)));
}

void examine_numerically(const CompleteOptions& options, Result& result) {
  const AnyMatrix matrix = read_matrix(options.file);
  result.description = std::visit([](const auto& m) { return describe(m); }, matrix);
  const auto from_entries = [&]<Scalar T>(const Array<T, 2>& m) {
    write_completed(m, examine<T>(m, options, result), options);
  };
  const auto from_generators =
      Overloaded{[&]<class T, class K>(const Quasiseparable<T, K>& m) {
                   const auto found = examine<T>(m, options, result);
                   if (!options.output.empty()) write_completed(expand(m), found, options);
                 },
                 [&]<class T, class K>(const Semiseparable<T, K>& m) { from_entries(expand(m)); }};
  std::visit(Overloaded{[&](const io::DenseMatrix& m) { std::visit(from_entries, m); },
                        [&](const io::AnyGenerators& m) { std::visit(from_generators, m); }},
             matrix);
}

#if STRUCTMAT_HAVE_EXACT

template <exact::Field F>
void examine(const exact::Matrix<F>& m, const CompleteOptions& options, Result& result) {
  const Progress progress("structmat complete");
  auto found = exact::complete_diagonal(m, options.order.value_or(m.rows()));
  result.order = options.order.value_or(found.minimal_order);
  // Without an order the least one is meant, as in floating point.
  if (!options.order) found = exact::complete_diagonal(m, result.order);
  result.field = m.field().name();
  const auto text = [&](const auto& x) { return m.field().text(x); };
  take(found, text, text, result);
}

void examine_exactly(const CompleteOptions& options, Result& result) {
  if (!options.output.empty()) {
    throw UsageError(
        "--exact: the diagonal is printed, there is no file of exact numbers to write");
  }
  if (options.tolerance) throw UsageError("--exact: there is no tolerance in exact arithmetic");
  with_exact_matrix(options.file, options.exact, options.prime, [&](const auto& m) {
    result.description = fmt::format("{} x {}, read exactly", m.rows(), m.cols());
    examine(m, options, result);
  });
}

#else

void examine_exactly(const CompleteOptions&, Result&) {
  throw NotAvailable("--exact: this build has no exact arithmetic (STRUCTMAT_EXACT)");
}

#endif

void print_text(const CompleteOptions& options, const Result& result) {
  print_line("file", options.file + ": " + result.description);
  print_line("order", fmt::format("{}{}, least {}", result.order, options.order ? " asked" : "",
                                  result.minimal_order));
  print_line("verdict", result.completable ? "completable" : "NOT COMPLETABLE");
  if (result.tolerance) {
    print_line("tolerance",
               fmt::format("{:.3g} times the norm of the triangle", *result.tolerance));
    print_line("smallest kept", fmt::format("{:.3g}", *result.smallest_kept));
    print_line("largest dropped", fmt::format("{:.3g}", *result.largest_dropped));
  }
  if (result.blocking) {
    const auto& e = result.entries[*result.blocking];
    print_line("blocking",
               fmt::format("index {}: ranks {} left, {} below, {} common, so {} at least",
                           *result.blocking, e.left, e.below, e.common, e.least));
    return;
  }
  fmt::print("\n{:>7}  {:<6}  {}\n", "index", "kind", "value");
  for (std::size_t k = 0; k < result.entries.size(); ++k) {
    const auto& e = result.entries[k];
    fmt::print("{:>7}  {:<6}  {}\n", k, e.kind, e.kind == std::string("free") ? "any" : e.text);
  }
}

void print_json(const CompleteOptions& options, const Result& result) {
  Json json{{"file", options.file},
            {"field", result.field},
            {"completable", result.completable},
            {"order", result.order},
            {"minimal_order", result.minimal_order},
            {"diagonal", Json::array()},
            {"blocking", nullptr}};
  if (result.blocking) {
    const auto& e = result.entries[*result.blocking];
    json["blocking"] = {
        {"index", *result.blocking},
        {"ranks",
         {{"left", e.left}, {"below", e.below}, {"common", e.common}, {"least", e.least}}}};
  } else {
    for (std::size_t k = 0; k < result.entries.size(); ++k) {
      const auto& e = result.entries[k];
      json["diagonal"].push_back({{"index", k}, {"kind", e.kind}, {"value", e.value}});
    }
  }
  if (result.tolerance) {
    json["tolerance"] = *result.tolerance;
    json["smallest_kept"] = *result.smallest_kept;
    json["largest_dropped"] = *result.largest_dropped;
  }
  fmt::print("{}\n", json.dump(2));
}

Status complete(const CompleteOptions& options) {
  Result result;
  if (!options.exact.empty()) {
    examine_exactly(options, result);
  } else {
    examine_numerically(options, result);
  }
  if (options.json) {
    print_json(options, result);
  } else {
    print_text(options, result);
  }
  return result.completable ? done : refuted;
}

}  // namespace

void add_complete(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "complete", "The diagonal with which a strictly lower triangle is semiseparable");
  const auto options = std::make_shared<CompleteOptions>();
  command
      ->add_option("file", options->file,
                   "Dense matrix (.npy, .mtx) or generators (.safetensors); with --exact also text")
      ->required()
      ->type_name("FILE");
  command->add_option("-r,--order", options->order, "The order N [the least that is possible]")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--tolerance", options->tolerance,
                      "A singular value counts above this times the norm [n eps of the dtype]");
  CLI::Option* exact =
      command->add_option("--exact", options->exact, "Exactly, over F_p or over the rationals")
          ->check(CLI::IsMember({"gfp", "rational"}));
  command->add_option("--prime", options->prime, "The p of gfp, below 2^26 [67108859]")
      ->needs(exact);
  add_output(*command, options->output, "The completed lower triangular matrix: .npy or .mtx");
  add_json(*command, options->json);
  command->footer(
      "forced: this value alone keeps the order; unique: any value keeps it, this one gives the\n"
      "least rank; free: every value gives the same rank.\n"
      "Exit status 0: completable; 1: not; 2: bad usage or input.\n\n"
      "Examples:\n"
      "  structmat complete L.npy --order 2 -o S.npy\n"
      "  structmat complete L.mtx --order 1 --exact rational --json");
  command->callback([&action, options] { action = [options] { return complete(*options); }; });
}

}  // namespace structmat::cli
