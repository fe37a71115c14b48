// structmat lemmas: the theorems that the library relies on, run over random instances.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "structmat/core/error.hpp"

#if STRUCTMAT_HAVE_EXACT
#include "structmat/exact/lemmas.hpp"
#endif

namespace structmat::cli {
namespace {

struct LemmasOptions {
  std::vector<std::string> names;
  std::optional<index_t> order{}, size{}, trials{};
  std::vector<std::string> fields;
  std::optional<std::uint32_t> prime{};
  std::uint64_t seed = 1;
  bool json = false, page = false;
};

#if STRUCTMAT_HAVE_EXACT

struct Row {
  const exact::Lemma* lemma;
  std::string field;
  exact::LemmaOutcome outcome;
};

std::vector<const exact::Lemma*> selected(const std::vector<std::string>& names) {
  std::vector<const exact::Lemma*> result;
  for (const exact::Lemma& l : exact::lemmas()) {
    if (names.empty()) result.push_back(&l);
  }
  for (const std::string& name : names) {
    const auto& all = exact::lemmas();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.name() == name; });
    if (found == all.end()) {
      throw UsageError(name + ": there is no lemma of that name; `structmat lemmas` lists them");
    }
    result.push_back(&*found);
  }
  return result;
}

std::vector<Row> run(const LemmasOptions& options) {
  exact::LemmaOptions sweep;
  sweep.order = options.order;
  sweep.size = options.size;
  sweep.trials = options.trials.value_or(30);
  sweep.seed = options.seed;
  if (options.prime) sweep.prime = exact::PrimeField(*options.prime);

  const auto chosen = selected(options.names);
  Progress progress("structmat lemmas");
  std::vector<Row> rows;
  std::size_t finished = 0;
  for (const exact::Lemma* l : chosen) {
    for (const auto field :
         {exact::LemmaField::rational, exact::LemmaField::gfp, exact::LemmaField::real}) {
      const std::string name = exact::name(field);
      if (!options.fields.empty() &&
          std::find(options.fields.begin(), options.fields.end(), name) == options.fields.end()) {
        continue;
      }
      rows.push_back({l, name, l->run(field, sweep)});
    }
    progress.set(double(++finished) / double(chosen.size()));
  }
  return rows;
}

void print_rows(const std::vector<Row>& rows) {
  std::size_t name = 0, field = 0;
  for (const Row& row : rows) {
    name = std::max(name, row.lemma->name().size());
    field = std::max(field, row.outcome.field.size());
  }
  fmt::print("{:<{}}  {:<{}}  {:>9}  {:<7}  {}\n", "lemma", name, "field", field, "instances",
             "verdict", "witness");
  for (const Row& row : rows) {
    const auto& o = row.outcome;
    const std::string& remark = o.holds ? o.witness : o.violation;
    fmt::print("{:<{}}  {:<{}}  {:>9}  {}{}{}\n", row.lemma->name(), name, o.field, field,
               o.instances, o.holds ? "holds" : "FAILS", remark.empty() ? "" : "    ", remark);
  }
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    const auto& o = row.outcome;
    json.push_back({{"name", row.lemma->name()},
                    {"statement", row.lemma->statement()},
                    {"field", row.field},
                    {"instances", o.instances},
                    {"holds", o.holds},
                    {"witness", nullptr},
                    {"violation", nullptr}});
    if (!o.witness.empty()) json.back()["witness"] = o.witness;
    if (!o.violation.empty()) json.back()["violation"] = o.violation;
  }
  fmt::print("{}\n", json.dump(2));
}

Status lemmas(const LemmasOptions& options) {
  if (options.page) {
    fmt::print("{}", exact::lemmas_page());
    return done;
  }
  const std::vector<Row> rows = run(options);
  if (options.json) {
    print_json(rows);
  } else {
    print_rows(rows);
  }
  const bool all =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.outcome.holds; });
  return all ? done : refuted;
}

#else

Status lemmas(const LemmasOptions&) {
  throw NotAvailable("this build has no exact arithmetic (STRUCTMAT_EXACT), which lemmas need");
}

#endif

}  // namespace

void add_lemmas(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "lemmas", "Run the theorems on orders and inclusions over random instances");
  const auto options = std::make_shared<LemmasOptions>();
  command->add_option("name", options->names, "Which ones [all]")->type_name("NAME");
  command->add_option("-r,--order", options->order, "The order N [1, 2 and 3]")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--size", options->size, "The size L [around all sizes where statements change]")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--trials", options->trials, "Random instances for each size and order [30]")
      ->check(CLI::PositiveNumber);
  command->add_option("--field", options->fields, "rational, gfp or double; may be repeated [all]")
      ->check(CLI::IsMember({"rational", "gfp", "double"}));
  command->add_option("--prime", options->prime, "The p of gfp, below 2^26 [67108859]");
  command->add_option("--seed", options->seed, "Of the random instances")->capture_default_str();
  CLI::Option* page = command->add_flag(
      "--page", options->page, "Print the statements, constructions and witnesses: Markdown");
  add_json(*command, options->json)->excludes(page);
  command->footer(
      "Exit status 0: all hold; 1: one does not; 2: bad usage.\n\n"
      "Examples:\n"
      "  structmat lemmas\n"
      "  structmat lemmas inverse-order collapse --order 4 --field rational --json");
  command->callback([&action, options] { action = [options] { return lemmas(*options); }; });
}

}  // namespace structmat::cli
