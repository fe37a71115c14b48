// One token of SSD for each of a batch of sequences, as a decoder takes it, its states in place.
//
// Floor: states are read and written in float, and the token's operands once: at 32 heads of 64 channels and 128
// states 2.1 MB a sequence.
#include <string>

#include "bench/measure.hpp"
#include "structmat/nn/ssd.hpp"

using namespace structmat;
using namespace structmat::bench;
using nn::SsdInput, nn::SsdOutput, nn::SsdView;

namespace {

using Cuda = space::cuda;

constexpr index_t heads = 32, channels = 64;

template <class T>
struct Operands {
  Operands(index_t batch, index_t states)
      : x(random<T, 4>({batch, 1, heads, channels}, 1)),
        z(random<T, 4>({batch, 1, heads, channels}, 2)),
        y(x.extents(), uninitialized),
        b(random<T, 4>({batch, 1, 1, states}, 3)),
        c(random<T, 4>({batch, 1, 1, states}, 4)),
        dt(random<T, 3>({batch, 1, heads}, 5)),
        a(random<float, 1>({heads}, 6)),
        bias(random<float, 1>({heads}, 7)),
        d(random<float, 2>({heads, channels}, 8)),
        state(random<float, 4>({batch, heads, channels, states}, 9)) {
    // Decays of less than one.
    Array<float, 1> host = to_host(a);
    for (index_t h = 0; h < heads; ++h) host(h) -= 1.0f;
    a = to_device(host);
  }
  void step(cudaStream_t stream) {
    SsdView<T, Cuda> m{dt, a, b, c};
    m.dt_bias = bias, m.d = d;
    SsdInput<T, Cuda> in{x};
    in.z = z, in.initial_state = state;
    apply(exec::cuda{stream}, m, in, SsdOutput<T, Cuda>{y, state});
  }
  double bytes() const {
    return 2.0 * sizeof(float) * static_cast<double>(state.size()) +
           sizeof(T) * static_cast<double>(3 * x.size() + 2 * b.size() + dt.size());
  }

  Array<T, 4, Cuda> x, z, y, b, c;
  Array<T, 3, Cuda> dt;
  Array<float, 1, Cuda> a, bias;
  Array<float, 2, Cuda> d;
  Array<float, 4, Cuda> state;
};

template <class T>
void measure(const Context& context, std::vector<Row>& rows, index_t batch, index_t states) {
  std::vector<Operands<T>> sets;
  sets.emplace_back(batch, states);
  const int count = context.sets_for(sets[0].bytes());
  while (static_cast<int>(sets.size()) < count) sets.emplace_back(batch, states);
  Row r{.name = std::string("SSD step ") + (sizeof(T) == 2 ? "bf16" : "float32") + " b" +
                std::to_string(batch) + " H" + std::to_string(heads) + " P" +
                std::to_string(channels) + " N" + std::to_string(states)};
  r.ours_ms = context.time_graph(
      count, [&](int i) { sets[static_cast<std::size_t>(i)].step(context.stream()); });
  r.floor_ms = sets[0].bytes() / context.copy_rate();
  rows.push_back(r);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Single tokens of SSD", [](Context& context, std::vector<Row>& rows) {
    measure<bf16>(context, rows, 1, 128);
    measure<bf16>(context, rows, 8, 128);
    measure<bf16>(context, rows, 32, 128);
    measure<bf16>(context, rows, 128, 128);
    measure<bf16>(context, rows, 128, 64);
    measure<bf16>(context, rows, 256, 16);
    measure<float>(context, rows, 128, 128);
  });
}
