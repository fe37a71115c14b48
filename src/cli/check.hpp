/// \file
/// The parts of structmat check: one function for each kind of evidence.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "command.hpp"
#include "matrix.hpp"

namespace structmat::cli {

struct CheckOptions {
  std::string file, property, relative_to = "matrix", plot, from, exact, left = "z:1",
                              right = "z:-1", backend = "cpu";
  std::optional<index_t> order{}, lower{}, upper{};
  std::optional<double> tolerance{};
  std::optional<std::uint32_t> prime{};
  std::uint64_t seed = 1;
  bool stein = false, prove = false, json = false;

  bool on_device() const { return backend == "cuda"; }
};

using Json = nlohmann::ordered_json;

/// The orders asked for; a half that is not mentioned may have any order up to n.
inline std::optional<Order> asked_order(const CheckOptions& options, index_t n) {
  if (options.order) return Order{*options.order, *options.order};
  if (options.lower || options.upper) {
    return Order{options.lower.value_or(n), options.upper.value_or(n)};
  }
  return std::nullopt;
}

inline Json order_json(const Order& order) {
  return {{"lower", order.lower}, {"upper", order.upper}};
}

/// One line of a report: a label of fixed width and its value.
inline void print_line(const char* label, const std::string& value) {
  fmt::print("{:<16} {}\n", label, value);
}

/// "any" where an order is no restriction.
inline std::string at_most(index_t order, index_t size) {
  return order >= size ? "any" : fmt::format("at most {}", order);
}

/// quasiseparable, semiseparable: singular values of blocks, from entries or from generators.
Status check_order(const CheckOptions& options);
/// quasiseparable by random probes.
Status check_probes(const CheckOptions& options);
/// representable.
Status check_representable(const CheckOptions& options);
/// low-rank, displacement.
Status check_rank(const CheckOptions& options);
/// banded, toeplitz, hankel, circulant, cauchy, vandermonde.
Status check_entrywise(const CheckOptions& options);
/// Anything over F_p or the rationals.
Status check_exact(const CheckOptions& options);

}  // namespace structmat::cli
