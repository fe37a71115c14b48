#include "structmat/nn/packing.hpp"

namespace structmat::nn {

std::vector<index_t> starts_of(View<const int, 1> sequence) {
  std::vector<index_t> starts{0};
  const index_t length = sequence.extent(0);
  for (index_t t = 1; t < length; ++t) {
    if (sequence(t) != sequence(t - 1)) starts.push_back(t);
  }
  if (length > 0) starts.push_back(length);
  return starts;
}

}  // namespace structmat::nn
