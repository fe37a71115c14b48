/// \file
/// Reading the tensors of a matrix from an open .safetensors file: what is missing, does not fit or is
/// too much becomes an error of that file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "io/source.hpp"
#include "structmat/io/safetensors.hpp"

namespace structmat::io::detail {

/// One file to be read.
class Reader {
 public:
  Reader(const Safetensors& file, const char* operation, const std::string& name)
      : file_(file), source_{operation, name} {}

  [[noreturn]] void fail(const std::string& place, const std::string& reason) const {
    source_.fail(place, reason);
  }

  const std::string& metadata(const char* key) const {
    const auto at = file_.metadata().find(key);
    if (at == file_.metadata().end()) fail("metadata " + std::string(key), "missing");
    return at->second;
  }

  template <class T, int Rank>
  Array<T, Rank> take(const std::string& name) {
    taken_.insert(name);
    if (!file_.contains(name)) fail("tensor " + name, "missing");
    try {
      return file_.read<T, Rank>(name);
    } catch (const Unsupported& e) {
      throw FileError(e.what());
    } catch (const ShapeError& e) {
      throw FileError(e.what());
    }
  }

  std::vector<index_t> integers(const std::string& name) {
    const Array<index_t, 1> values = take<index_t, 1>(name);
    return {values.begin(), values.end()};
  }

  /// action(operation), whose ShapeErrors become errors of this file.
  template <class Action>
  void checked(const Action& action) const {
    try {
      action((std::string(source_.operation) + ": " + source_.name + ", tensor").c_str());
    } catch (const ShapeError& e) {
      throw FileError(e.what());
    }
  }

  void require_nothing_else() const {
    for (const auto& [name, info] : file_.tensors()) {
      if (!taken_.contains(name)) {
        fail("tensor " + excerpt(name), "generators of this kind have no such tensor");
      }
    }
  }

 private:
  const Safetensors& file_;
  Source source_;
  std::set<std::string> taken_;
};

}  // namespace structmat::io::detail
