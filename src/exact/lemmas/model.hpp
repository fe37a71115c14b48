/// \file
/// How a lemma is written down: its words, and one generic body for all fields.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exact/lemmas/workbench.hpp"
#include "structmat/exact/lemmas.hpp"

namespace structmat::exact {

/// One instance to make: size n, order N; `broken` is 1 when the hypothesis is to be broken by one.
struct Case {
  index_t n = 0, order = 0;
  index_t broken = 0;
};

struct LemmaText {
  std::string name, statement, map, broken_by, corrects{};
};

template <Field F>
struct LemmaBody {
  /// Makes an instance and says whether the conclusion holds.
  std::function<bool(Workbench<F>&, Case)> instance;
  /// The witness in words if it is confirmed, otherwise nothing. Empty when there is none.
  std::function<std::optional<std::string>(Workbench<F>&)> witness;
};

struct LemmaModel {
  LemmaText text;
  /// The smallest size at which an instance of this order exists.
  std::function<index_t(index_t order)> smallest;
  /// The size at which a hypothesis broken by one shows.
  std::function<index_t(index_t order)> breaking;
  std::tuple<LemmaBody<RationalField>, LemmaBody<PrimeField>, LemmaBody<FloatingField>> bodies;
};

struct LemmaSizes {
  std::function<index_t(index_t)> smallest = [](index_t) { return index_t(0); };
  std::function<index_t(index_t)> breaking = [](index_t order) { return 2 * order + 5; };
};

/// Stands for the witness of a statement that has none.
struct NoWitness {};

/// instance(workbench, case) -> bool and witness(workbench) -> std::optional<std::string>, for a
/// workbench over any field.
template <class Instance, class Witness>
Lemma lemma(LemmaText text, Instance instance, Witness witness, LemmaSizes sizes = {}) {
  auto model = std::make_shared<LemmaModel>();
  model->text = std::move(text);
  model->smallest = std::move(sizes.smallest);
  model->breaking = std::move(sizes.breaking);
  const auto fill = [&](auto& body) {
    body.instance = instance;
    if constexpr (!std::same_as<Witness, NoWitness>) body.witness = witness;
  };
  std::apply([&](auto&... body) { (fill(body), ...); }, model->bodies);
  return Lemma(std::move(model));
}
template <class Instance>
Lemma lemma(LemmaText text, Instance instance, LemmaSizes sizes = {}) {
  return lemma(std::move(text), std::move(instance), NoWitness{}, std::move(sizes));
}

/// `words` if all of what was checked is true.
inline std::optional<std::string> confirmed(bool true_of_witness, std::string words) {
  if (!true_of_witness) return std::nullopt;
  return words;
}

// The chapters of the registry.
std::vector<Lemma> inclusion_lemmas();
std::vector<Lemma> arithmetic_lemmas();
std::vector<Lemma> completion_lemmas();
std::vector<Lemma> displacement_lemmas();

}  // namespace structmat::exact
