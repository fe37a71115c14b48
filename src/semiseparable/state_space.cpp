#include "structmat/semiseparable/state_space.hpp"

#include <string>

#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"

namespace structmat::semiseparable {
namespace {

template <Scalar T>
constexpr T zero{};

}  // namespace

template <Scalar T, transition::Uniform K>
StateSpaceView<T, K> checked(StateSpaceView<T, K> m, const char* operation, index_t batch,
                             index_t steps) {
  if (m.d.empty() && m.d.data() == nullptr) m.d = View<const T, 2>(&zero<T>, {1, 1});
  const index_t r = m.order();
  std::array<index_t, 2> common{batch, steps};
  const auto require = [&](const char* name, const auto& view) {
    constexpr const char* kinds[] = {"batch", "steps"};
    for (int d = 0; d < std::decay_t<decltype(view)>::rank; ++d) {
      const index_t extent = view.extent(d);
      if (d >= 2 && extent != r) {
        throw ShapeError(std::string(operation) + ": " + name + " has extent " +
                         std::to_string(extent) + " in dimension " + std::to_string(d) +
                         ", expected " + std::to_string(r));
      }
      if (d >= 2 || extent == 1) continue;
      if (common[d] != 1 && extent != common[d]) {
        throw ShapeError(std::string(operation) + ": " + name + " has " + std::to_string(extent) +
                         " " + kinds[d] + ", expected 1 or " + std::to_string(common[d]));
      }
      common[d] = extent;
    }
  };
  require("a", m.a);
  require("b", m.b);
  require("c", m.c);
  require("d", m.d);
  const auto spread = [&](const auto& view) {
    return view.broadcast(0, common[0]).broadcast(1, common[1]);
  };
  return {spread(m.a), spread(m.b), spread(m.c), spread(m.d)};
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                     \
  template STRUCTMAT_EXPORT StateSpaceView<T, transition::K> checked<T, transition::K>( \
      StateSpaceView<T, transition::K>, const char*, index_t, index_t);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::semiseparable
