// Our side of celerite2_likelihood.py: the Gaussian process with a sum of eight exponentials as
// covariance and n = 524,288 irregular times.
//
// usage: likelihood export FOLDER       the problem and our results as .npy files
//        likelihood time REPETITIONS    least CPU milliseconds of each piece of work as JSON

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <string>

#include "report/measure.hpp"
#include "report/problems.hpp"
#include "structmat/io/npy.hpp"

namespace {

using namespace structmat;
using namespace structmat::bench;
namespace qs = structmat::quasiseparable;
using K = transition::Diagonal;

constexpr index_t n = 524288, order = 8;

Celerite gaussian_process() {
  Celerite m = celerite(n, order);
  double variance = 0;
  for (index_t l = 0; l < order; ++l) variance += 1 / static_cast<double>(l + 1);
  for (index_t i = 0; i < n; ++i) {
    m.d(i, 0) = variance + 0.1;
    for (index_t l = 0; l < order; ++l) {
      m.u(i, l) = 1;
      m.v(i, l) = 1 / static_cast<double>(l + 1);
    }
  }
  return m;
}

struct Problem {
  exec::cpu e{1};
  Celerite peer = gaussian_process();
  Quasiseparable<double> m = quasiseparable_of(peer);
  Array<double, 2> y = random_block(1, n, 2), z{{1, n}}, x{{1, n}};
  Array<double, 3> w{{1, n, order}};
  Array<double, 2> d{{1, n}}, y_bar{{1, n}};
  Array<double, 1> value{{1}}, one{{1}};
  Quasiseparable<double> gradient{n, {order, 0}};

  qs::LdlView<double, K> f() const { return {m.p.view(), w.view(), m.a.view(), d.view()}; }
  void factor() { qs::factor_ldl<double, K>(e, m.view(), {}, w.view(), d.view()); }
  void solve_lower() { qs::solve_lower(e, f(), y.view().select(0, 0), z.view().select(0, 0)); }
  void solve() { qs::solve(e, f(), y.view().select(0, 0), x.view().select(0, 0)); }
  void log_likelihood() { qs::log_likelihood<double, K>(e, m.view(), y.view(), value.view()); }
  void gradients() {
    for (auto* g : {&gradient.p, &gradient.q}) std::fill(g->begin(), g->end(), 0);
    std::fill(gradient.a.begin(), gradient.a.end(), 0);
    std::fill(gradient.d.begin(), gradient.d.end(), 0);
    std::fill(y_bar.begin(), y_bar.end(), 0);
    one(0) = 1;
    qs::log_likelihood_vjp<double, K>(e, m.view(), y.view(), value.view(), one.view(),
                                      QuasiseparableCotangent<double, K>(gradient), y_bar.view());
  }
};

void export_to(const std::filesystem::path& folder) {
  Problem p;
  p.factor();
  p.solve_lower();
  p.gradients();
  const auto write = [&](const char* name, const View<const double, 2>& matrix) {
    io::write_npy(folder / (std::string(name) + ".npy"), matrix);
  };
  const auto rows = [](const auto& array) { return array.view().select(0, 0); };
  for (const auto& [name, a] : {std::pair{"t", &p.peer.t},
                                {"c", &p.peer.c},
                                {"u", &p.peer.u},
                                {"v", &p.peer.v},
                                {"d", &p.peer.d}}) {
    write(name, a->view());
  }
  write("y", p.y.view());
  write("ours_w", rows(p.w));
  write("ours_d", p.d.view());
  write("ours_z", p.z.view());
  write("ours_value", View<const double, 2>(p.value.data(), {1, 1}));
  write("ours_p_bar", rows(p.gradient.p));
  write("ours_a_bar", rows(p.gradient.a));
  write("ours_q_bar", rows(p.gradient.q));
  write("ours_d_bar", p.gradient.d.view());
  write("ours_y_bar", p.y_bar.view());
}

/// CPU time of this thread: other work on the machine counts only through the memory it uses.
double milliseconds_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

void time(int repetitions) {
  Problem p;
  p.factor();
  const std::vector<Work> works{[&] { p.factor(); }, [&] { p.solve_lower(); }, [&] { p.solve(); },
                                [&] { p.log_likelihood(); }, [&] { p.gradients(); }};
  std::vector<double> ms(works.size(), INFINITY);
  for (int i = 0; i < repetitions; ++i) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      const double begin = milliseconds_of_thread();
      works[w]();
      ms[w] = std::min(ms[w], milliseconds_of_thread() - begin);
    }
  }
  const char* const names[] = {"factor", "solve_lower", "solve", "value", "value_and_gradient"};
  std::cout << "{";
  for (std::size_t i = 0; i < ms.size(); ++i) {
    std::cout << (i == 0 ? "" : ", ") << '"' << names[i] << "\": " << ms[i];
  }
  std::cout << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string work = argc == 3 ? argv[1] : "";
  if (work == "export") {
    export_to(argv[2]);
  } else if (work == "time") {
    time(std::atoi(argv[2]));
  } else {
    std::cerr << "usage: likelihood export FOLDER | likelihood time REPETITIONS\n";
    return 2;
  }
}
