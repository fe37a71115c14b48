/// \file
/// Markdown tables whose columns line up also in a terminal.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace structmat::bench {

class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print() const {
    std::vector<std::size_t> width(rows_[0].size());
    for (const auto& row : rows_) {
      for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line = "|";
      for (std::size_t c = 0; c < width.size(); ++c) {
        line += c == 0 ? fmt::format(" {:<{}} |", rows_[r][c], width[c])
                       : fmt::format(" {:>{}} |", rows_[r][c], width[c]);
      }
      fmt::print("{}\n", line);
      if (r > 0) continue;
      line = "|";
      for (std::size_t c = 0; c < width.size(); ++c) {
        line += std::string(width[c] + (c == 0 ? 2 : 1), '-') + (c == 0 ? "|" : ":|");
      }
      fmt::print("{}\n", line);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace structmat::bench
