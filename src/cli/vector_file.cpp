#include "vector_file.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "matrix.hpp"
#include "structmat/io/csv.hpp"

namespace structmat::cli {

AnyVector read_vector(const std::string& path) {
  if (!path.ends_with(".npy") && !path.ends_with(".mtx")) {
    const io::Columns columns = io::read_columns(path);
    return to_array(View<const double, 1>(columns.values.front()));
  }
  return std::visit(
      [&]<Scalar T>(const Array<T, 2>& m) -> AnyVector {
        if (m.extent(0) != 1 && m.extent(1) != 1) {
          throw UsageError(
              fmt::format("{}: {} x {}, a vector is needed", path, m.extent(0), m.extent(1)));
        }
        return to_array(View<const T, 1>(m.data(), {m.size()}));
      },
      read_dense(path));
}

}  // namespace structmat::cli
