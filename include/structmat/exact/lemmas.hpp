/// \file
/// The theorems that the library relies on, as statements that can be run.
///
/// A lemma has a name, a statement, its constructive map (how the promised representation is made),
/// what breaks it, and, where an inclusion is strict or a bound is attained, a smallest witness. It
/// runs over random instances in F_p, in the rationals and in double; sizes and orders are swept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "structmat/exact/field.hpp"

namespace structmat::exact {

/// Where the instances of a lemma live.
enum class LemmaField { rational, gfp, real };

/// "rational", "gfp", "double"
STRUCTMAT_EXPORT std::string name(LemmaField field);

/// What is swept.
struct LemmaOptions {
  std::optional<index_t> order{};  ///< unset: 1, 2 and 3
  std::optional<index_t> size{};   ///< unset: around every size at which a statement changes
  index_t trials = 2;              ///< random instances for each size and order
  PrimeField prime{};
  std::uint64_t seed = 1;
};

/// What a run of one lemma over one field found.
struct LemmaOutcome {
  std::string field;        ///< "Q", "GF(67108859)", "double"
  index_t instances = 0;    ///< how many were decided: double leaves out a few near its tolerance
  bool holds = true;        ///< every instance, and the witness
  std::string witness{};    ///< the witness in words, when there is one and it was confirmed
  std::string violation{};  ///< the first instance that failed, in words
};

struct LemmaModel;

/// One statement.
class STRUCTMAT_EXPORT Lemma {
 public:
  explicit Lemma(std::shared_ptr<const LemmaModel> model) : model_(std::move(model)) {}

  const std::string& name() const;       ///< "sum-order"
  const std::string& statement() const;  ///< one sentence
  const std::string& map() const;        ///< the construction that proves it
  const std::string& broken_by() const;  ///< the weakened hypothesis that makes it fail
  const std::string& corrects() const;   ///< the false or loose claim that it replaces, or ""
  bool has_witness() const;

  /// Runs the sweep. Throws DomainError for orders below 1, sizes below 0, trials below 1.
  LemmaOutcome run(LemmaField field, const LemmaOptions& options = {}) const;

  /// Instances whose hypothesis is broken by one: how many of `trials` fail, as they should.
  index_t failures_when_broken(LemmaField field, index_t trials, std::uint64_t seed = 1) const;

 private:
  std::shared_ptr<const LemmaModel> model_;
};

/// All of them, in the order of the page docs/math/lemmas.md.
STRUCTMAT_EXPORT const std::vector<Lemma>& lemmas();

/// The page docs/math/lemmas.md.
STRUCTMAT_EXPORT std::string lemmas_page();

}  // namespace structmat::exact
