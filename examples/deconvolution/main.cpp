/// \file
/// Deconvolution: yearly sunspot numbers as an instrument with a slow response would have recorded
/// them, with noise, and what a regularised Toeplitz solve recovers from that record.
///
///   record = H x + noise,   (H^T H + lambda D^T D) x = H^T record
///
/// H convolves with the response, D takes second differences. Both are full convolutions, so that
/// the matrix of the system is Toeplitz, symmetric and positive definite: its lags are those of the
/// autocorrelations. lambda is the one for which the residual has the size of the noise (Morozov's
/// discrepancy principle).
///
/// usage: structmat_deconvolution <sunspots.csv> <picture.svg>
/// Exit status: 0 if everything is as expected, 1 if not, 2 if it could not run.
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <vector>

#include "plot/plot.hpp"
#include "structmat/io/csv.hpp"
#include "structmat/toeplitz/apply.hpp"
#include "structmat/toeplitz/hermitian_inverse.hpp"

namespace {

using namespace structmat;
using Series = std::vector<double>;

constexpr double response_time = 4, relative_noise = 0.02;  // years; of the root mean square

double norm(const Series& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

Series difference(const Series& x, const Series& y) {
  Series d(x.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = x[i] - y[i];
  return d;
}

/// Full convolution with h as a matrix of n columns.
Toeplitz<double> convolution(const Series& h, index_t n) {
  Toeplitz<double> m(n + static_cast<index_t>(h.size()) - 1, n);
  for (std::size_t j = 0; j < h.size(); ++j) m.lags(0, static_cast<index_t>(j) + n - 1) = h[j];
  return m;
}

/// Adds scale times the autocorrelation of h to lags 0, 1, ...
void add_autocorrelation(const Series& h, double scale, Series& lags) {
  for (std::size_t l = 0; l < h.size(); ++l) {
    for (std::size_t j = 0; j + l < h.size(); ++j) lags[l] += scale * h[j] * h[j + l];
  }
}

/// Recovers x from its record.
class Restorer {
 public:
  Restorer(const Series& response, const Series& record, index_t n)
      : response_(response), record_(record), h_(convolution(response, n)), right_side_(n) {
    h_.apply_transpose(record, right_side_);
  }

  Series operator()(double lambda) const {
    Series lags(right_side_.size()), x(right_side_.size());
    add_autocorrelation(response_, 1, lags);
    add_autocorrelation({1, -2, 1}, lambda, lags);
    const toeplitz::HermitianInverse<double> inverse(lags);
    inverse.apply(right_side_, x);
    return x;
  }

  /// ||H x - record||
  double residual(const Series& x) const {
    Series again(record_.size());
    h_.apply(x, again);
    return norm(difference(again, record_));
  }

 private:
  Series response_, record_;
  Toeplitz<double> h_;
  Series right_side_;
};

/// The lambda between 1e-8 and 1e4 at which the residual reaches `size`, by bisection of its logarithm.
double discrepancy_principle(const Restorer& restore, double size) {
  double low = -8, high = 4;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (restore.residual(restore(std::pow(10, middle))) < size ? low : high) = middle;
  }
  return std::pow(10, low);
}

int run(const char* data, const char* picture) {
  const io::Columns columns = io::read_columns(data);
  const Series &year = columns.values.at(0), &truth = columns.values.at(1);
  const auto n = static_cast<index_t>(truth.size());

  // Two stages that forget exponentially, one behind the other.
  Series response(50);
  const double forget = std::exp(-1 / response_time);
  for (std::size_t j = 0; j < response.size(); ++j) {
    const auto t = static_cast<double>(j);
    response[j] = (1 - forget) * (1 - forget) * (t + 1) * std::pow(forget, t);
  }
  Series record(truth.size() + response.size() - 1), noise(record.size());
  convolution(response, n).apply(truth, record);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const double level =
      relative_noise * norm(record) / std::sqrt(static_cast<double>(record.size()));
  for (std::size_t i = 0; i < record.size(); ++i) record[i] += noise[i] = level * normal(random);

  const Restorer restore(response, record, n);
  const double lambda = discrepancy_principle(restore, norm(noise));
  const Series restored = restore(lambda), naive = restore(1e-8);
  const Series seen(record.begin(), record.begin() + n);

  const double scale = norm(truth);
  const double before = norm(difference(seen, truth)) / scale,
               after = norm(difference(restored, truth)) / scale,
               unregularised = norm(difference(naive, truth)) / scale;
  std::printf("%d years, two stages of %g years, noise of %g %%\n", static_cast<int>(n),
              response_time, 100 * relative_noise);
  std::printf("relative error of the record %.3f, of the restored series %.3f (lambda %.2e)\n",
              before, after, lambda);
  std::printf("without regularisation %.3f\n", unregularised);

  plot::write_svg(picture,
                  {"Yearly sunspot numbers, a slow instrument's record of them, and what a "
                   "Toeplitz solve recovers",
                   {{year, truth, "#333", {}, "sunspot numbers"},
                    {year, seen, "#d94801", {}, "recorded"},
                    {year, restored, "#08519c", {}, "recovered"}},
                   {},
                   year.front(),
                   year.back()});
  const bool ok = after < 0.2 && after < before / 3 && after < unregularised / 2;
  std::printf("picture: %s\n%s\n", picture, ok ? "All as expected." : "Not as expected.");
  return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: structmat_deconvolution <sunspots.csv> <picture.svg>\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "structmat_deconvolution: %s\n", e.what());
    return 2;
  }
}
