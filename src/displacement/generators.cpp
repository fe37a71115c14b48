#include "structmat/displacement/generators.hpp"

#include <string>

#include "core/instantiate.hpp"

namespace structmat::displacement {
namespace {

template <Scalar T>
void require_fit(const char* operation, const Operator<T>& a, const char* side, index_t size,
                 const char* factor) {
  const auto numbers = index_t(a.x.size());
  if (a.kind != OperatorKind::diagonal || numbers == size) return;
  throw ShapeError(std::string(operation) + ": the diagonal on the " + side + " has " +
                   std::to_string(numbers) + " numbers, " + factor + " has " +
                   std::to_string(size) + " rows");
}

}  // namespace

template <Scalar T>
void require_valid(const char* operation, const Generators<T>& x) {
  if (x.g.extent(1) != x.h.extent(1)) {
    throw ShapeError(std::string(operation) + ": g has " + std::to_string(x.g.extent(1)) +
                     " columns, h has " + std::to_string(x.h.extent(1)));
  }
  require_fit(operation, x.displacement.left, "left", x.rows(), "g");
  require_fit(operation, x.displacement.right, "right", x.cols(), "h");
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT void require_valid<T>(const char*, const Generators<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
