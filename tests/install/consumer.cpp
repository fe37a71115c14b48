#include <cstdio>
#include <structmat/core/array.hpp>
#include <structmat/core/version.hpp>

int main() {
  const structmat::Array<double, 2> a({2, 3});
  const auto version = structmat::version();
  std::printf("structmat %.*s\n", static_cast<int>(version.size()), version.data());
  return a.size() == 6 && version == "0.1.0" ? 0 : 1;
}
