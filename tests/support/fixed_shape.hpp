/// \file
/// Operations of fixed shape on a device, all of them in the same way: captured in a CUDA graph, the same bits each
/// time, the workspace asked for and no more, and refused with a smaller one before anything is written.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/core/device.hpp"
#include "structmat/core/error.hpp"
#include "structmat/core/exec.hpp"
#include "support/gpu.hpp"

namespace structmat::test {

template <class T, int Rank>
void append(std::vector<std::byte>& bytes, const Array<T, Rank, space::cuda>& array) {
  const auto here = to_host(array);
  const auto* first = reinterpret_cast<const std::byte*>(here.data());
  bytes.insert(bytes.end(), first, first + sizeof(T) * static_cast<std::size_t>(here.size()));
}

/// call(e) writes or adds to `outputs`, and needs `bytes` of workspace.
template <class Call, class... Outputs>
void check_fixed_shape(const std::string& entry, index_t bytes, const Call& call,
                       Outputs&... outputs) {
  INFO(entry);
  const auto zero = [](auto& array) {
    if (!array.empty())
      detail::device_zero(array.data(),
                          sizeof(*array.data()) * static_cast<std::size_t>(array.size()));
  };
  const auto written = [&] {
    std::vector<std::byte> all;
    (append(all, outputs), ...);
    return all;
  };
  Array<std::byte, 1> junk({bytes});
  std::fill(junk.begin(), junk.end(), std::byte{0xff});
  // Twice, as a replayed graph runs twice: some add to their results.
  const auto twice = [&] {
    (zero(outputs), ...);
    for (int i = 0; i < 2; ++i) {
      auto workspace = to_device(junk);
      call(exec::cuda{nullptr, workspace});
      device_synchronize();
    }
    return written();
  };
  (zero(outputs), ...);
  const auto zeroes = written();
  if (once()) {
    auto workspace = to_device(junk);
    call(exec::cuda{nullptr, workspace});
    CHECK(written() != zeroes);
    return;
  }
  if (bytes > 0) {
    // Less than the least that anything takes.
    Array<std::byte, 1, space::cuda> small({std::min<index_t>(bytes - 1, 255)});
    CHECK_THROWS_AS(call(exec::cuda{nullptr, small}), DomainError);
    CHECK(written() == zeroes);
  }
  const auto directly = twice();
  CHECK(directly != zeroes);
  CHECK(twice() == directly);
  (zero(outputs), ...);
  auto workspace = to_device(junk);
  replay([&](void* stream) { call(exec::cuda{stream, workspace}); });
  CHECK(written() == directly);
}

}  // namespace structmat::test
