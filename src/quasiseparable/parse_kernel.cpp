#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>

#include "quasiseparable/kernel_terms.hpp"
#include "structmat/core/error.hpp"

namespace structmat::quasiseparable {
namespace {

/// Recursive descent: expression = product {"+" product}, product = factor {"*" factor}, factor =
/// "(" expression ")" or a term.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Kernel parse() {
    Kernel kernel = expression(0);
    if (at_ < text_.size()) refuse("\"" + std::string(text_.substr(at_)) + "\" is left over");
    return kernel;
  }

 private:
  // Recursion over expressions must not exhaust the stack.
  static constexpr int deepest = 100, most_terms = 1000;

  Kernel expression(int depth) {
    Kernel kernel = product(depth);
    while (take('+')) kernel = std::move(kernel) + product(depth);
    return kernel;
  }

  Kernel product(int depth) {
    Kernel kernel = factor(depth);
    while (take('*')) kernel = std::move(kernel) * factor(depth);
    return kernel;
  }

  Kernel factor(int depth) {
    if (!take('(')) return term();
    if (depth == deepest) refuse("parentheses are nested too deeply");
    Kernel kernel = expression(depth + 1);
    if (!take(')')) refuse("a parenthesis is not closed");
    return kernel;
  }

  Kernel term() {
    if (++terms_ > most_terms) {
      refuse("there are more than " + std::to_string(most_terms) + " terms");
    }
    const std::string_view name = token(":+*()");
    const std::span<const Term> terms = known_terms();
    const auto known =
        std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.name == name; });
    if (known == terms.end()) {
      std::string names;
      for (const Term& t : terms) names += (names.empty() ? "" : ", ") + std::string(t.name);
      refuse("the kernel \"" + std::string(name) + "\" is unknown; known are " + names);
    }
    std::vector<std::optional<double>> values(known->parameters.size());
    std::optional<double> harmonics;
    if (take(':')) {
      do {
        parameter(*known, values, harmonics);
      } while (take(','));
    }
    const auto value = [&](std::size_t i) {
      return values[i].value_or(known->parameters[i] == "Q" ? 0.5 : 1.0);
    };
    try {
      switch (known->kind) {
        case Kernel::Kind::exponential:
          return Kernel::exponential(value(0), value(1));
        case Kernel::Kind::matern32:
          return Kernel::matern32(value(0), value(1));
        case Kernel::Kind::matern52:
          return Kernel::matern52(value(0), value(1));
        case Kernel::Kind::sho:
          return Kernel::sho(value(0), value(1), value(2));
        case Kernel::Kind::cosine:
          return Kernel::cosine(value(0), value(1));
        default:
          return Kernel::periodic(value(0), value(1), value(2),
                                  static_cast<index_t>(harmonics.value_or(4)));
      }
    } catch (const DomainError& error) {
      refuse(error.what());
    }
  }

  /// NAME=VALUE
  void parameter(const Term& term, std::vector<std::optional<double>>& values,
                 std::optional<double>& harmonics) {
    const std::string_view text = token(",+*()");
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = trimmed(text.substr(0, equals));
    const auto place = std::find(term.parameters.begin(), term.parameters.end(), name);
    const bool is_harmonics = term.kind == Kernel::Kind::periodic && name == "harmonics";
    if (equals == text.size() || (place == term.parameters.end() && !is_harmonics)) {
      std::string names;
      for (const std::string_view p : term.parameters) {
        names += (names.empty() ? "" : ", ") + std::string(p) + "=NUMBER";
      }
      if (term.kind == Kernel::Kind::periodic) names += ", harmonics=NUMBER";
      refuse("the parameter \"" + std::string(text) + "\" is unknown; known are " + names);
    }
    std::optional<double>& value =
        is_harmonics ? harmonics : values[place - term.parameters.begin()];
    if (value) refuse(std::string(name) + " is given twice");
    const std::string_view digits = trimmed(text.substr(equals + 1));
    value = number_from(name, digits);
    if (is_harmonics && (*value != std::floor(*value) || *value > most_harmonics)) {
      refuse("harmonics is \"" + std::string(digits) + "\", it must be an integer up to " +
             std::to_string(most_harmonics));
    }
  }

  double number_from(std::string_view name, std::string_view digits) {
    double result = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, result);
    if (code != std::errc() || stop != end || !std::isfinite(result) || result <= 0) {
      refuse(std::string(name) + " is \"" + std::string(digits) +
             "\", it must be a positive number");
    }
    return result;
  }

  /// Text up to one of `stops`; a sign in an exponent, as in 1e+3, is no stop.
  std::string_view token(std::string_view stops) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && stops.find(text_[at_]) == std::string_view::npos) {
      const bool sign_follows = at_ > begin && (text_[at_] == 'e' || text_[at_] == 'E') &&
                                is_digit(text_[at_ - 1]) && at_ + 1 < text_.size() &&
                                text_[at_ + 1] == '+';
      at_ += sign_follows ? 2 : 1;
    }
    return trimmed(text_.substr(begin, at_ - begin));
  }

  static bool is_digit(char c) { return (c >= '0' && c <= '9') || c == '.'; }
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }

  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
  }

  bool take(char c) {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw DomainError("quasiseparable::parse_kernel: \"" + std::string(text_) + "\": " + reason);
  }

  static constexpr std::int64_t most_harmonics = 1000;
  std::string_view text_;
  std::size_t at_ = 0;
  int terms_ = 0;
};

/// Text of an operand of a product: sums need parentheses, and so does a product on the right, which
/// would otherwise come back as another tree.
std::string factor_text(const Kernel& kernel, bool right) {
  const bool parentheses =
      kernel.kind() == Kernel::Kind::sum || (right && kernel.kind() == Kernel::Kind::product);
  return parentheses ? "(" + to_string(kernel) + ")" : to_string(kernel);
}

}  // namespace

Kernel parse_kernel(std::string_view text) {
  return Parser(text).parse();
}

std::string to_string(const Kernel& kernel) {
  const std::vector<Kernel>& operands = kernel.operands();
  if (kernel.kind() == Kernel::Kind::sum) {
    const bool parentheses = operands[1].kind() == Kernel::Kind::sum;
    const std::string right = to_string(operands[1]);
    return to_string(operands[0]) + " + " + (parentheses ? "(" + right + ")" : right);
  }
  if (kernel.kind() == Kernel::Kind::product) {
    return factor_text(operands[0], false) + " * " + factor_text(operands[1], true);
  }
  const Term& term = term_of(kernel.kind());
  std::string text(term.name);
  for (std::size_t i = 0; i < term.parameters.size(); ++i) {
    text += (i == 0 ? ":" : ",") + std::string(term.parameters[i]) + "=" +
            number(kernel.term_parameters()[i]);
  }
  if (kernel.kind() == Kernel::Kind::periodic) {
    text += ",harmonics=" + std::to_string(kernel.harmonics());
  }
  return text;
}

}  // namespace structmat::quasiseparable
