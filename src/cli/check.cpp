// structmat check: does a matrix have a structure, and of which order?
#include "check.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "device.hpp"
#include "options.hpp"

namespace structmat::cli {
namespace {

constexpr std::array entrywise{"banded",    "toeplitz", "hankel",
                               "circulant", "cauchy",   "vandermonde"};

bool is_entrywise(const std::string& property) {
  return std::find(entrywise.begin(), entrywise.end(), property) != entrywise.end();
}
bool has_two_orders(const std::string& property) {
  return property == "quasiseparable" || property == "semiseparable";
}

/// An option without a meaning for the property is an error: silence would pass for an answer.
void require_meaning(const CheckOptions& options) {
  const std::string& property = options.property;
  const auto require = [](bool meant, const std::string& why) {
    if (!meant) throw UsageError(why);
  };
  const bool two = has_two_orders(property);
  require(two || property == "banded" || !(options.lower || options.upper),
          property + " has one order: use --order");
  require(!options.order || !is_entrywise(property) || property == "banded",
          property + " has no order");
  require(options.plot.empty() || (two && options.from != "probes"),
          "--plot is for rank profiles of quasiseparable and semiseparable matrices");
  require(
      options.relative_to == "matrix" || (two && options.exact.empty() && options.from != "probes"),
      "--relative-to block is for rank profiles in floating point");
  require(!options.prime || options.exact == "gfp", "--prime is for --exact gfp");
  require(!options.prove || options.exact == "rational", "--prove is for --exact rational");
}

/// Who answers for which property.
Status check(const CheckOptions& options) {
  require_meaning(options);
  if (options.on_device()) {
    if (!has_two_orders(options.property) || !options.exact.empty()) {
      throw Unsupported(
          "backend cuda: quasiseparable and semiseparable orders from all entries, quasiseparable "
          "ones "
          "from probes; other checks run on the CPU");
    }
    require_device();
  }
  if (!options.exact.empty()) return check_exact(options);
  if (options.from == "probes") return check_probes(options);
  if (has_two_orders(options.property)) return check_order(options);
  if (!options.from.empty()) {
    throw UsageError("--from is for quasiseparable and semiseparable, not for " + options.property);
  }
  if (options.property == "representable") return check_representable(options);
  return is_entrywise(options.property) ? check_entrywise(options) : check_rank(options);
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("check", "Verify a structure and measure its order");
  const auto options = std::make_shared<CheckOptions>();
  command
      ->add_option(
          "file", options->file,
          "Dense matrix (.npy, .mtx) or generators (.safetensors); with --exact also text: "
          "rows of decimals and fractions")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--property", options->property,
          "quasiseparable: blocks off the diagonal; semiseparable: blocks that contain it; "
          "representable: lower part of a matrix of that rank; displacement: rank of A X - "
          "X B; the others by their names")
      ->required()
      ->check(CLI::IsMember({"quasiseparable", "semiseparable", "representable", "low-rank",
                             "banded", "toeplitz", "hankel", "circulant", "cauchy", "vandermonde",
                             "displacement"}));
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
  command
      ->add_option("--from", options->from,
                   "generators: without forming the matrix; dense: from all entries; probes: from "
                   "products with random vectors [what the file holds]")
      ->check(CLI::IsMember({"generators", "dense", "probes"}));
  command->add_option("--seed", options->seed, "Of the probes")->capture_default_str();
  CLI::Option* exact =
      command->add_option("--exact", options->exact, "Exactly, over F_p or over the rationals")
          ->check(CLI::IsMember({"gfp", "rational"}));
  command->add_option("--prime", options->prime, "The p of gfp, below 2^26 [67108859]")
      ->needs(exact);
  command
      ->add_flag("--prove", options->prove,
                 "rational: by elimination, not modulo several primes only")
      ->needs(exact);
  command
      ->add_option("--left", options->left,
                   "displacement: A, as z:F (down-shift with corner F), "
                   "zt:F (its transpose) or diag:FILE")
      ->capture_default_str();
  command->add_option("--right", options->right, "displacement: B")->capture_default_str();
  command->add_flag("--stein", options->stein, "displacement: X - A X B in place of A X - X B");
  command
      ->add_option("--plot", options->plot,
                   "Draw the matrix, its rank profile and the singular values of some blocks: SVG")
      ->type_name("FILE")
      ->excludes(exact);
  add_backend(*command, options->backend);
  add_json(*command, options->json);
  command->footer(
      "Exit status 0: measured, or the property holds; 1: it does not hold; 2: bad usage or "
      "input.\n"
      "Rows and columns count from 0.\n\n"
      "Examples:\n"
      "  structmat check K.npy --property quasiseparable\n"
      "  structmat check L.mtx --property semiseparable --lower 2 --tolerance 1e-10 --json\n"
      "  structmat check A.mtx --property quasiseparable --order 2 --exact rational --prove\n"
      "  structmat check T.npy --property displacement --left z:1 --right z:-1 --order 2");
  command->callback([&action, options] { action = [options] { return check(*options); }; });
}

}  // namespace structmat::cli
