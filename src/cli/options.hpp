/// \file
/// Options that several commands have: the same name and meaning everywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "structmat/core/scalar.hpp"
#include "structmat/recurrence/transition.hpp"

namespace structmat::cli {

inline CLI::Option* add_dtype(CLI::App& command, std::string& value) {
  return command.add_option("--dtype", value, "Scalar type")
      ->check(CLI::IsMember({"float32", "float64", "complex64", "complex128"}))
      ->capture_default_str();
}

inline CLI::Option* add_transition(CLI::App& command, std::string& value) {
  return command.add_option("--transition", value, "How neighbouring indices are linked")
      ->check(CLI::IsMember({"scalar", "diagonal", "dense"}))
      ->capture_default_str();
}

inline CLI::Option* add_output(CLI::App& command, std::string& value, const std::string& what) {
  return command.add_option("-o,--output", value, what)->type_name("FILE");
}

inline CLI::Option* add_json(CLI::App& command, bool& value) {
  return command.add_flag("--json", value, "Print one JSON object and nothing else");
}

inline CLI::Option* add_threads(CLI::App& command, int& value) {
  return command
      .add_option("--threads", value, "Number of threads; 0: as OMP_NUM_THREADS, or all processors")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

inline CLI::Option* add_backend(CLI::App& command, std::string& value) {
  return command.add_option("--backend", value, "Where to compute: cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
}

/// action(T()) for the scalar type T of that name.
template <class F>
void with_dtype(const std::string& name, F&& action) {
  if (name == dtype_name<float>()) return action(float());
  if (name == dtype_name<double>()) return action(double());
  if (name == dtype_name<std::complex<float>>()) return action(std::complex<float>());
  action(std::complex<double>());
}

/// action(K()) for the uniform transition K of that name.
template <class F>
void with_transition(const std::string& name, F&& action) {
  if (name == transition::Scalar::name) return action(transition::Scalar());
  if (name == transition::Diagonal::name) return action(transition::Diagonal());
  action(transition::Dense());
}

}  // namespace structmat::cli
