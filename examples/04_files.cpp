// Write a dense matrix as .npy and generators as .safetensors, read both back, compare.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <structmat/io/npy.hpp>
#include <structmat/io/safetensors.hpp>
#include <structmat/structmat.hpp>

using namespace structmat;

int main() {
  // Triangles exp(-|i - j| / 10) times 1 below and times 2 above the diagonal.
  const index_t n = 50;
  Quasiseparable<double> m(n, {1, 1});
  std::fill(m.p.begin(), m.p.end(), std::exp(-0.1));
  std::fill(m.g.begin(), m.g.end(), 2 * std::exp(-0.1));
  for (auto* ones : {&m.q, &m.h}) std::fill(ones->begin(), ones->end(), 1.0);
  for (auto* decay : {&m.a, &m.b}) std::fill(decay->begin(), decay->end(), std::exp(-0.1));
  std::fill(m.d.begin(), m.d.end(), 1.0);
  const Array<double, 3> dense = m.to_dense();

  // A folder of this process alone.
  const auto folder = std::filesystem::temp_directory_path() /
                      ("structmat-example-" + std::to_string(std::random_device()()));
  std::filesystem::create_directory(folder);
  io::write_npy(folder / "matrix.npy", dense.view().select(0, 0));
  io::write_safetensors(
      folder / "generators.safetensors",
      {{"p", m.p}, {"q", m.q}, {"a", m.a}, {"d", m.d}, {"g", m.g}, {"h", m.h}, {"b", m.b}},
      {{"family", "quasiseparable"}, {"transition", "diagonal"}});

  // The file decides the type of elements; convert asks for one.
  const auto read = io::convert<double>(io::read_npy(folder / "matrix.npy"));
  const io::Safetensors file = io::read_safetensors(folder / "generators.safetensors");
  Quasiseparable<double> back;
  back.p = file.read<double, 3>("p");
  back.q = file.read<double, 3>("q");
  back.a = file.read<double, 3>("a");
  back.d = file.read<double, 2>("d");
  back.g = file.read<double, 3>("g");
  back.h = file.read<double, 3>("h");
  back.b = file.read<double, 3>("b");
  std::filesystem::remove_all(folder);

  const Array<double, 3> again = back.to_dense();
  const bool npy = std::equal(read.begin(), read.end(), dense.begin(), dense.end());
  const bool generators = std::equal(again.begin(), again.end(), dense.begin(), dense.end());
  std::printf("family %s; .npy %s; generators %s\n", file.metadata().at("family").c_str(),
              npy ? "equal" : "DIFFER", generators ? "equal" : "DIFFER");
  return npy && generators ? 0 : 1;
}
