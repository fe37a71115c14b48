#include <cstdio>
#include <structmat/core/array.hpp>

int main() {
  try {
    const auto there = structmat::to_device(structmat::Array<double, 1>({1000}));
    return structmat::to_host(there).size() == 1000 ? 0 : 1;
  } catch (const structmat::NotAvailable& e) {
    std::printf("%s\n", e.what());
    return 0;
  }
}
