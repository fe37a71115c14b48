// Tables of chunks of packed sequences.
#include <catch2/catch.hpp>
#include <vector>

#include "nn/tokens.cuh"
#include "structmat/core/array.hpp"

using namespace structmat;
using gpu::nn::Tokens;

namespace {

/// begins and first slots.
std::vector<index_t> table_of(const std::vector<index_t>& starts, index_t length, int size) {
  const exec::cuda e;
  const index_t count = static_cast<index_t>(starts.size());
  Array<index_t, 1> host({count}, uninitialized);
  for (index_t i = 0; i < count; ++i) host(i) = starts[i];
  const auto device = to_device(host);
  const index_t numbers = gpu::nn::table_size(count - 1, true);
  Array<index_t, 1, space::cuda> table({numbers}, uninitialized);
  const Tokens t = gpu::nn::make_tokens(
      "test", nullptr, 1, length, View<const index_t, 1, space::cuda>(device), size, table.data());
  CHECK(t.sequences == count - 1);
  CHECK(t.packed());
  const auto back = to_host(table);
  std::vector<index_t> result(numbers);
  for (index_t i = 0; i < numbers; ++i) result[i] = back(i);
  CHECK(result.back() <= t.slots);
  return result;
}

}  // namespace

TEST_CASE("chunks of packed sequences", "[nn_tokens]") {
  CHECK(table_of({0, 3, 3, 10}, 10, 4) == std::vector<index_t>{0, 3, 3, 10, 0, 1, 1, 3});
  CHECK(table_of({0, 0}, 0, 4) == std::vector<index_t>{0, 0, 0, 0});
}

TEST_CASE("starts out of order or of range are moved into it", "[nn_tokens]") {
  CHECK(table_of({5, 8, -2, 99, 7}, 10, 4) == std::vector<index_t>{0, 8, 8, 10, 10, 0, 2, 2, 3, 3});
}

TEST_CASE("more sequences than threads", "[nn_tokens]") {
  std::vector<index_t> starts(3001), expected(2 * 3001);
  for (index_t s = 0; s <= 3000; ++s) {
    starts[s] = expected[s] = 5 * s;
    expected[3001 + s] = 2 * s;
  }
  CHECK(table_of(starts, 15000, 4) == expected);
}
