#include "structmat/exact/lemmas.hpp"

#include <algorithm>
#include <iterator>

#include "exact/lemmas/model.hpp"

namespace structmat::exact {
namespace {

void require(const char* what, index_t value, index_t least) {
  if (value < least) {
    throw DomainError(std::string("exact::Lemma::run: the ") + what + " is " +
                      std::to_string(value) + ", it must be at least " + std::to_string(least));
  }
}

/// action(body, workbench) for the field asked for.
template <class Action>
auto with_field(const LemmaModel& model, LemmaField field, const PrimeField& prime,
                std::uint64_t seed, const Action& action) {
  switch (field) {
    case LemmaField::rational: {
      Workbench<RationalField> w({}, seed);
      return action(std::get<LemmaBody<RationalField>>(model.bodies), w);
    }
    case LemmaField::gfp: {
      Workbench<PrimeField> w(prime, seed);
      return action(std::get<LemmaBody<PrimeField>>(model.bodies), w);
    }
    case LemmaField::real:
      break;
  }
  Workbench<FloatingField> w({}, seed);
  return action(std::get<LemmaBody<FloatingField>>(model.bodies), w);
}

/// Empty, 1, and around the sizes 2N and 2N + 1 at which statements change.
std::vector<index_t> sizes_to_try(const LemmaOptions& options, index_t order, index_t smallest) {
  std::vector<index_t> sizes{
      0, 1, 2, 3, order + 1, 2 * order, 2 * order + 1, 2 * order + 2, 3 * order + 4};
  if (options.size) sizes = {*options.size};
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [&](index_t n) { return n < smallest; });
  return sizes;
}

}  // namespace

std::string name(LemmaField field) {
  switch (field) {
    case LemmaField::rational:
      return "rational";
    case LemmaField::gfp:
      return "gfp";
    case LemmaField::real:
      break;
  }
  return "double";
}

const std::string& Lemma::name() const {
  return model_->text.name;
}
const std::string& Lemma::statement() const {
  return model_->text.statement;
}
const std::string& Lemma::map() const {
  return model_->text.map;
}
const std::string& Lemma::broken_by() const {
  return model_->text.broken_by;
}
const std::string& Lemma::corrects() const {
  return model_->text.corrects;
}
bool Lemma::has_witness() const {
  return static_cast<bool>(std::get<0>(model_->bodies).witness);
}

LemmaOutcome Lemma::run(LemmaField field, const LemmaOptions& options) const {
  if (options.order) require("order", *options.order, 1);
  if (options.size) require("size", *options.size, 0);
  require("number of trials", options.trials, 1);
  std::vector<index_t> orders{1, 2, 3};
  if (options.order) orders = {*options.order};

  return with_field(
      *model_, field, options.prime, options.seed, [&](const auto& body, auto& workbench) {
        LemmaOutcome outcome;
        outcome.field = workbench.field.name();
        for (const index_t order : orders) {
          for (const index_t n : sizes_to_try(options, order, model_->smallest(order))) {
            for (index_t trial = 0; trial < options.trials; ++trial) {
              const index_t doubtful = workbench.doubtful();
              const bool holds = body.instance(workbench, Case{n, order, 0});
              if (workbench.doubtful() != doubtful) continue;
              ++outcome.instances;
              if (holds) continue;
              outcome.holds = false;
              if (outcome.violation.empty()) {
                outcome.violation = "size " + std::to_string(n) + ", order " +
                                    std::to_string(order) + ", trial " + std::to_string(trial);
              }
            }
          }
        }
        if (body.witness) {
          const std::optional<std::string> witness = body.witness(workbench);
          if (witness) {
            outcome.witness = *witness;
          } else {
            outcome.holds = false;
            if (outcome.violation.empty()) outcome.violation = "the witness was not confirmed";
          }
        }
        return outcome;
      });
}

index_t Lemma::failures_when_broken(LemmaField field, index_t trials, std::uint64_t seed) const {
  require("number of trials", trials, 1);
  return with_field(*model_, field, PrimeField(), seed, [&](const auto& body, auto& workbench) {
    index_t failures = 0;
    for (index_t trial = 0; trial < trials; ++trial) {
      const index_t order = 1 + trial % 2;
      if (!body.instance(workbench, Case{model_->breaking(order), order, 1})) ++failures;
    }
    return failures;
  });
}

const std::vector<Lemma>& lemmas() {
  static const std::vector<Lemma> all = [] {
    std::vector<Lemma> result;
    for (auto* chapter :
         {inclusion_lemmas, arithmetic_lemmas, completion_lemmas, displacement_lemmas}) {
      auto part = chapter();
      std::move(part.begin(), part.end(), std::back_inserter(result));
    }
    return result;
  }();
  return all;
}

std::string lemmas_page() {
  std::string page =
      "# Lemmas\n\n"
      "Generated by `structmat lemmas --page` from the registry in `src/exact/lemmas`; a test "
      "compares the two.\n\n"
      "N is an order, L or n a size; orders are upper bounds. Z is the down-shift, J the reversal. "
      "Each statement runs over random instances in the rationals, in F_p and in double "
      "(`structmat lemmas`), and each fails when its hypothesis is broken as described.\n";
  for (const Lemma& l : lemmas()) {
    page += "\n## " + l.name() + "\n\n" + l.statement() + "\n\n- Construction: " + l.map() +
            "\n- Fails with: " + l.broken_by() + ".\n";
    if (l.has_witness())
      page += "- Witness: " +
              l.run(LemmaField::rational, {.order = 1, .size = 3, .trials = 1}).witness + ".\n";
    if (!l.corrects().empty()) page += "- Remark: " + l.corrects() + "\n";
  }
  return page;
}

}  // namespace structmat::exact
