#include "problem.hpp"
#include "structmat/io/csv.hpp"

namespace demo {

Series read_series(const std::filesystem::path& path) {
  const structmat::io::Columns columns = structmat::io::read_columns(path);
  if (columns.values.size() != 2) {
    throw structmat::FileError(path.string() + ": " + std::to_string(columns.values.size()) +
                               " columns, expected 2");
  }
  return {columns.values[0], columns.values[1]};
}

}  // namespace demo
