// Any bytes give columns of equal length or an Error. The first byte chooses the options.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "structmat/core/error.hpp"
#include "structmat/io/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace io = structmat::io;
  if (size == 0) return 0;
  constexpr io::Missing choices[] = {io::Missing::refuse, io::Missing::skip_row,
                                     io::Missing::as_nan};
  const io::ColumnsOptions options{.missing = choices[data[0] % 3],
                                   .allow_infinite = data[0] % 2 == 1};
  try {
    const io::Columns columns =
        io::parse_columns(std::as_bytes(std::span(data + 1, size - 1)), "fuzz", options);
    for (const auto& column : columns.values) {
      if (column.size() != columns.values[0].size()) std::abort();
    }
    if (!columns.names.empty() && columns.names.size() != columns.values.size()) std::abort();
  } catch (const structmat::Error&) {
  }
  return 0;
}
