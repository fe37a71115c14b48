#include "structmat/core/array.hpp"

#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace structmat::detail {

void advise_huge_pages([[maybe_unused]] void* pointer,
                       [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // NumPy's threshold: below it there is little to gain, and memory to lose at both ends.
  constexpr std::size_t least = std::size_t{1} << 22;
  if (bytes < least) return;
  constexpr std::uintptr_t page = 4096;
  const std::size_t skip = (page - reinterpret_cast<std::uintptr_t>(pointer) % page) % page;
  // Advice only: where it is refused, pages stay small.
  madvise(static_cast<char*>(pointer) + skip, (bytes - skip) / page * page, MADV_HUGEPAGE);
#endif
}

}  // namespace structmat::detail
