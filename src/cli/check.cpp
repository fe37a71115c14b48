// structmat check: does a matrix have a structure, and of which order?
#include <filesystem>
#include <memory>

#include "check_report.hpp"
#include "command.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "structmat/io/rank_picture.hpp"
#include "structmat/quasiseparable/from_dense.hpp"

namespace structmat::cli {
namespace {

struct CheckOptions {
  std::string file, property, relative_to = "matrix", plot;
  std::optional<index_t> order{}, lower{}, upper{};
  std::optional<double> tolerance{};
  bool json = false;
};

verify::Options to_library(const CheckOptions& options, index_t n, Progress& progress) {
  verify::Options result;
  if (options.order) result.order = Order{*options.order, *options.order};
  if (options.lower || options.upper) {
    // A half that is not mentioned may have any order.
    result.order = Order{options.lower.value_or(n), options.upper.value_or(n)};
  }
  result.tolerance = options.tolerance;
  if (options.relative_to == "block") result.relative = verify::Relative::block;
  result.progress = [&progress](double fraction) { progress.set(fraction); };
  return result;
}

template <Scalar T>
void examine(View<const T, 2> m, const CheckOptions& options, CheckResult& result) {
  {
    Progress progress("structmat check");
    const verify::Options asked = to_library(options, m.extent(0), progress);
    result.report = options.property == "quasiseparable" ? verify::quasiseparable(m, asked)
                                                         : verify::semiseparable(m, asked);
  }
  if (!result.report.complete) return;
  const Progress progress("structmat check: compression");
  const auto compressed = quasiseparable::from_dense(m, {.tolerance = result.report.tolerance});
  const double norm = compressed.frobenius_norm;
  result.compression = Compression{compressed.matrix.stored(), compressed.matrix.order(),
                                   norm > 0 ? compressed.truncation_error / norm : 0};
}

Status check(const CheckOptions& options) {
  CheckResult result{.file = options.file};
  io::DenseMatrix dense;
  {
    const Progress progress("structmat check: reading");
    AnyMatrix matrix = read_matrix(options.file);
    result.expanded = std::holds_alternative<io::AnyGenerators>(matrix);
    result.description = std::visit([](const auto& m) { return describe(m); }, matrix);
    dense = result.expanded ? expand(std::get<io::AnyGenerators>(matrix))
                            : std::move(std::get<io::DenseMatrix>(matrix));
  }
  std::visit(
      [&]<Scalar T>(const Array<T, 2>& m) {
        examine(View<const T, 2>(m), options, result);
        if (options.plot.empty()) return;
        const std::string title = std::filesystem::path(options.file).filename().string();
        io::write_rank_picture(options.plot, View<const T, 2>(m), result.report, title);
      },
      dense);
  if (options.json) {
    print_json(result);
  } else {
    print_text(result);
  }
  return result.report.holds ? done : refuted;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("check", "Verify a structure and measure its order");
  const auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("file", options->file,
                   "Dense matrix (.npy, .mtx) or generators (.safetensors: expanded for the check)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--property", options->property,
                   "quasiseparable: blocks off the diagonal; semiseparable: blocks that contain it")
      ->required()
      ->check(CLI::IsMember({"quasiseparable", "semiseparable"}));
  CLI::Option* order =
      command
          ->add_option("-r,--order", options->order,
                       "Verdict: is the order at most this? [none: the order is measured]")
          ->check(CLI::NonNegativeNumber);
  command->add_option("--lower", options->lower, "Verdict for the lower half [any]")
      ->check(CLI::NonNegativeNumber)
      ->excludes(order);
  command->add_option("--upper", options->upper, "Verdict for the upper half [any]")
      ->check(CLI::NonNegativeNumber)
      ->excludes(order);
  command->add_option(
      "--tolerance", options->tolerance,
      "A singular value counts above this times the reference [n eps of the dtype]");
  command
      ->add_option("--relative-to", options->relative_to,
                   "The reference: the Frobenius norm of the matrix, or the largest singular value "
                   "of each block")
      ->check(CLI::IsMember({"matrix", "block"}))
      ->capture_default_str();
  command->add_option("--plot", options->plot, "Draw the matrix and its rank profile: SVG")
      ->type_name("FILE");
  add_json(*command, options->json);
  command->footer(
      "Exit status 0: measured, or the property holds; 1: it does not hold; 2: bad usage or "
      "input.\n"
      "Rows and columns count from 0.\n\n"
      "Examples:\n"
      "  structmat check K.npy --property quasiseparable\n"
      "  structmat check L.mtx --property semiseparable --lower 2 --tolerance 1e-10 --json");
  command->callback([&action, options] { action = [options] { return check(*options); }; });
}

}  // namespace structmat::cli
