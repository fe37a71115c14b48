#include "cauchy/multipole_kernels.hpp"

#include <algorithm>
#include <bit>

#include "core/simd.hpp"

namespace structmat::cauchy::multipole {
namespace {

using V = simd::Vector<double, lanes>;
typedef std::int64_t Bits __attribute__((vector_size(lanes * sizeof(std::int64_t))));

STRUCTMAT_INLINE V load(const double* p) {
  return simd::load<V>(p);
}

/// scale w^l for l = 0, 1, ..., eight at a time.
struct Powers {
  V re, im;
  double step_re, step_im;

  STRUCTMAT_INLINE Powers(double w_re, double w_im, double scale_re, double scale_im) {
    const double re2 = w_re * w_re - w_im * w_im, im2 = 2 * w_re * w_im;
    const double re4 = re2 * re2 - im2 * im2, im4 = 2 * re2 * im2;
    step_re = re4 * re4 - im4 * im4;
    step_im = 2 * re4 * im4;
    const V one = {1, 0, 1, 0, 1, 0, 1, 0}, w = {0, 1, 0, 1, 0, 1, 0, 1};
    const V one2 = {1, 1, 0, 0, 1, 1, 0, 0}, w2 = {0, 0, 1, 1, 0, 0, 1, 1};
    const V one4 = {1, 1, 1, 1, 0, 0, 0, 0}, w4 = {0, 0, 0, 0, 1, 1, 1, 1};
    const V a_re = one + w * w_re, a_im = w * w_im;
    const V b_re = one2 + w2 * re2, b_im = w2 * im2;
    const V c_re = scale_re * one4 + w4 * (scale_re * re4 - scale_im * im4);
    const V c_im = scale_im * one4 + w4 * (scale_re * im4 + scale_im * re4);
    const V ab_re = a_re * b_re - a_im * b_im, ab_im = a_re * b_im + a_im * b_re;
    re = ab_re * c_re - ab_im * c_im;
    im = ab_re * c_im + ab_im * c_re;
  }

  STRUCTMAT_INLINE void next() {
    const V r = re * step_re - im * step_im;
    im = re * step_im + im * step_re;
    re = r;
  }
};

/// 1 / x for positive, normal x, to two units in the last place: the exponent's and mantissa's bits
/// subtracted give a relative error of 0.051, which the steps raise to the fourth and the third
/// power. A vector division takes four times as long.
STRUCTMAT_INLINE V reciprocal(const V& x) {
  const Bits magic = Bits{} + 0x7FDE623822FC16E6;
  V y = std::bit_cast<V>(magic - std::bit_cast<Bits>(x));
  V e = 1 - x * y;
  V e2 = e * e;
  y += y * e;
  y += y * e2;
  e = 1 - x * y;
  e += e * e;
  return y + y * e;
}

STRUCTMAT_INLINE V absolute(const V& x) {
  return std::bit_cast<V>(std::bit_cast<Bits>(x) & INT64_MAX);
}

/// conj(d) / |d|^2, and 0 for d = 0.
template <bool Scaled>
STRUCTMAT_INLINE void invert(V& re, V& im) {
  // Far below the square of any difference that is not scaled.
  const V least = V{} + 0x1p-1020;
  V scale{};
  if constexpr (Scaled) {
    const V a = absolute(re), b = absolute(im), larger = a > b ? a : b;
    constexpr std::int64_t exponent = 0x7FF0000000000000, top = 0x7FD0000000000000;
    scale = std::bit_cast<V>(top - (std::bit_cast<Bits>(larger) & exponent));
    re *= scale;
    im *= scale;
  }
  V square = re * re + im * im;
  square = square > least ? square : least;
  const V inverse = reciprocal(square);
  re *= inverse;
  im *= -inverse;
  if constexpr (Scaled) {
    re *= scale;
    im *= scale;
  }
}

template <int N, int Columns, bool Scaled>
STRUCTMAT_INLINE void near_block(const Targets& targets, index_t at, const double* t_re,
                                 const double* t_im, index_t n, const double* const* charges) {
  V s_re[N], s_im[N], sum_re[Columns][N], sum_im[Columns][N];
  for (int v = 0; v < N; ++v) {
    s_re[v] = load(targets.re + at + v * lanes);
    s_im[v] = load(targets.im + at + v * lanes);
    for (int c = 0; c < Columns; ++c) sum_re[c][v] = sum_im[c][v] = V{};
  }
  for (index_t j = 0; j < n; ++j) {
    for (int v = 0; v < N; ++v) {
      V re = s_re[v] - t_re[j], im = s_im[v] - t_im[j];
      invert<Scaled>(re, im);
      for (int c = 0; c < Columns; ++c) {
        const double x_re = charges[2 * c][j], x_im = charges[2 * c + 1][j];
        sum_re[c][v] += x_re * re;
        sum_re[c][v] -= x_im * im;
        sum_im[c][v] += x_re * im;
        sum_im[c][v] += x_im * re;
      }
    }
  }
  for (int c = 0; c < Columns; ++c) {
    double* out = targets.sums + 2 * c * targets.n + at;
    for (int v = 0; v < N; ++v) {
      simd::store(out + v * lanes, load(out + v * lanes) + sum_re[c][v]);
      simd::store(out + targets.n + v * lanes, load(out + targets.n + v * lanes) + sum_im[c][v]);
    }
  }
}

template <int Columns, bool Scaled>
STRUCTMAT_INLINE void near_columns(const Targets& targets, const double* t_re, const double* t_im,
                                   index_t n, const double* const* charges) {
  // Four vectors of targets hide the latency of the reciprocal; more columns need the registers.
  constexpr int most = Columns == 1 ? 4 : 2;
  index_t at = 0;
  for (; at + most * lanes <= targets.n; at += most * lanes) {
    near_block<most, Columns, Scaled>(targets, at, t_re, t_im, n, charges);
  }
  if constexpr (most == 4) {
    if (at + 3 * lanes == targets.n) {
      near_block<3, Columns, Scaled>(targets, at, t_re, t_im, n, charges);
      return;
    }
    if (at + 2 * lanes == targets.n) {
      near_block<2, Columns, Scaled>(targets, at, t_re, t_im, n, charges);
      return;
    }
  }
  if (at < targets.n) near_block<1, Columns, Scaled>(targets, at, t_re, t_im, n, charges);
}

/// q = 8 N rows of the binomials times v.
template <int N>
STRUCTMAT_INLINE void binomial_rows(const double* binomials, int stride, int p, const double* v_re,
                                    const double* v_im, V* out_re, V* out_im) {
  // Few rows make few chains of additions: even and odd terms then have their own.
  constexpr int ways = N <= 2 ? 2 : 1;
  V re[ways][N], im[ways][N];
  for (int w = 0; w < ways; ++w) {
    for (int i = 0; i < N; ++i) re[w][i] = im[w][i] = V{};
  }
  for (int k = 0; k < p; k += ways) {
    for (int w = 0; w < ways; ++w) {
      for (int i = 0; i < N; ++i) {
        const V b = load(binomials + (k + w) * stride + i * lanes);
        re[w][i] += b * v_re[k + w];
        im[w][i] += b * v_im[k + w];
      }
    }
  }
  for (int i = 0; i < N; ++i) {
    out_re[i] = ways == 2 ? re[0][i] + re[ways - 1][i] : re[0][i];
    out_im[i] = ways == 2 ? im[0][i] + im[ways - 1][i] : im[0][i];
  }
}

template <int N>
STRUCTMAT_INLINE void translate_one(const Scheme& scheme, const Far& far, double q, int columns,
                                    double* local) {
  const int terms = scheme.terms();
  alignas(64) double w_re[most_terms], w_im[most_terms], v_re[most_terms], v_im[most_terms];
  const double scale = 2 * far.radius;
  Powers out_powers(scale * far.inverse_re, scale * far.inverse_im, 1, 0);
  for (int k = 0; k < far.terms; k += lanes) {
    simd::store(w_re + k, out_powers.re);
    simd::store(w_im + k, out_powers.im);
    out_powers.next();
  }
  for (int c = 0; c < columns; ++c) {
    const double* m = far.multipole + 2 * c * terms;
    for (int k = 0; k < far.terms; k += lanes) {
      const V re = load(m + k), im = load(m + terms + k), a = load(w_re + k), b = load(w_im + k);
      simd::store(v_re + k, a * re - b * im);
      simd::store(v_im + k, a * im + b * re);
    }
    V sum_re[N], sum_im[N];
    binomial_rows<N>(scheme.binomials(), terms, far.terms, v_re, v_im, sum_re, sum_im);
    Powers powers(-2 * q * far.inverse_re, -2 * q * far.inverse_im, far.inverse_re, far.inverse_im);
    double* out = local + 2 * c * terms;
    for (int i = 0; i < N; ++i) {
      double* re = out + i * lanes;
      double* im = re + terms;
      simd::store(re, load(re) + sum_re[i] * powers.re - sum_im[i] * powers.im);
      simd::store(im, load(im) + sum_re[i] * powers.im + sum_im[i] * powers.re);
      powers.next();
    }
  }
}

/// p terms with as many zeros on each side, and zeros up to 2 lanes more.
struct Padded {
  alignas(64) double data[3 * most_terms];

  double* terms() { return data + most_terms; }
  const double* terms() const { return data + most_terms; }
};

}  // namespace

STRUCTMAT_CLONES
Bounds bounds_of(const double* re, const double* im, index_t n) {
  Bounds b{re[0], re[0], im[0], im[0]};
  index_t i = 0;
  if (n >= lanes) {
    V low_re = load(re), high_re = low_re, low_im = load(im), high_im = low_im;
    for (; i + lanes <= n; i += lanes) {
      const V x = load(re + i), y = load(im + i);
      low_re = x < low_re ? x : low_re;
      high_re = x > high_re ? x : high_re;
      low_im = y < low_im ? y : low_im;
      high_im = y > high_im ? y : high_im;
    }
    for (int l = 0; l < lanes; ++l) {
      b = {std::min(b.low_re, low_re[l]), std::max(b.high_re, high_re[l]),
           std::min(b.low_im, low_im[l]), std::max(b.high_im, high_im[l])};
    }
  }
  for (; i < n; ++i) {
    b = {std::min(b.low_re, re[i]), std::max(b.high_re, re[i]), std::min(b.low_im, im[i]),
         std::max(b.high_im, im[i])};
  }
  return b;
}

STRUCTMAT_CLONES
double largest_square(const double* re, const double* im, index_t n, const Disc& disc) {
  double largest = 0;
  index_t i = 0;
  V most{};
  for (; i + lanes <= n; i += lanes) {
    const V x = load(re + i) - disc.re, y = load(im + i) - disc.im;
    const V square = x * x + y * y;
    most = square > most ? square : most;
  }
  for (int l = 0; l < lanes; ++l) largest = std::max(largest, most[l]);
  for (; i < n; ++i) {
    const double x = re[i] - disc.re, y = im[i] - disc.im;
    largest = std::max(largest, x * x + y * y);
  }
  return largest;
}

STRUCTMAT_CLONES
void expand(const Scheme& scheme, const Tree& tree, const Box& box, const Charges& charges,
            double* multipole) {
  const int terms = scheme.terms();
  const double inverse = box.disc.radius > 0 ? 1 / box.disc.radius : 0;
  std::fill_n(multipole, 2 * terms * charges.columns, 0.0);
  for (index_t j = box.begin; j < box.end; ++j) {
    Powers powers((tree.re()[j] - box.disc.re) * inverse, (tree.im()[j] - box.disc.im) * inverse, 1,
                  0);
    for (int k = 0; k < terms; k += lanes) {
      for (int c = 0; c < charges.columns; ++c) {
        const double x_re = charges.re(c)[j], x_im = charges.im(c)[j];
        double* re = multipole + 2 * c * terms + k;
        double* im = re + terms;
        simd::store(re, load(re) + x_re * powers.re - x_im * powers.im);
        simd::store(im, load(im) + x_re * powers.im + x_im * powers.re);
      }
      powers.next();
    }
  }
}

// A binomial shift is a product with a Toeplitz matrix between diagonal ones of factorials.

STRUCTMAT_CLONES
void shift_up(const Scheme& scheme, const Disc& child, const Disc& parent, int columns,
              const double* multipole, double* parent_multipole) {
  const int terms = scheme.terms();
  const double inverse = 1 / parent.radius;
  Padded e_re, e_im;
  std::fill_n(e_re.data, most_terms, 0.0);
  std::fill_n(e_im.data, most_terms, 0.0);
  alignas(64) double g[most_terms], v_re[most_terms], v_im[most_terms];
  Powers offset((child.re - parent.re) * inverse, (child.im - parent.im) * inverse, 1, 0);
  Powers ratio(child.radius * inverse, 0, 1, 0);
  for (int k = 0; k < terms; k += lanes) {
    const V f = load(scheme.inverse_factorials() + k);
    simd::store(e_re.terms() + k, offset.re * f);
    simd::store(e_im.terms() + k, offset.im * f);
    simd::store(g + k, ratio.re * f);
    offset.next();
    ratio.next();
  }
  for (int c = 0; c < columns; ++c) {
    const double* m = multipole + 2 * c * terms;
    for (int k = 0; k < terms; k += lanes) {
      simd::store(v_re + k, load(m + k) * load(g + k));
      simd::store(v_im + k, load(m + terms + k) * load(g + k));
    }
    for (int l = 0; l < terms; l += lanes) {
      V rr{}, ii{}, ri{}, ir{};
      for (int k = 0; k < l + lanes; ++k) {
        const V a = load(e_re.terms() + l - k), b = load(e_im.terms() + l - k);
        rr += a * v_re[k];
        ii += b * v_im[k];
        ri += b * v_re[k];
        ir += a * v_im[k];
      }
      const V f = load(scheme.factorials() + l);
      double* re = parent_multipole + 2 * c * terms + l;
      double* im = re + terms;
      simd::store(re, load(re) + f * (rr - ii));
      simd::store(im, load(im) + f * (ri + ir));
    }
  }
}

STRUCTMAT_CLONES
void shift_down(const Scheme& scheme, const Disc& parent, const Disc& child, int columns,
                const double* local, double* child_local) {
  const int terms = scheme.terms();
  const double inverse = 1 / parent.radius;
  alignas(64) double e_re[most_terms], e_im[most_terms], g[most_terms];
  Padded v_re, v_im;
  std::fill_n(v_re.terms() + terms, most_terms, 0.0);
  std::fill_n(v_im.terms() + terms, most_terms, 0.0);
  Powers offset((child.re - parent.re) * inverse, (child.im - parent.im) * inverse, 1, 0);
  Powers ratio(child.radius * inverse, 0, 1, 0);
  for (int k = 0; k < terms; k += lanes) {
    const V f = load(scheme.inverse_factorials() + k);
    simd::store(e_re + k, offset.re * f);
    simd::store(e_im + k, offset.im * f);
    simd::store(g + k, ratio.re * f);
    offset.next();
    ratio.next();
  }
  for (int c = 0; c < columns; ++c) {
    const double* in = local + 2 * c * terms;
    for (int k = 0; k < terms; k += lanes) {
      const V f = load(scheme.factorials() + k);
      simd::store(v_re.terms() + k, load(in + k) * f);
      simd::store(v_im.terms() + k, load(in + terms + k) * f);
    }
    for (int l = 0; l < terms; l += lanes) {
      V rr{}, ii{}, ri{}, ir{};
      for (int k = 0; k < terms - l; ++k) {
        const V a = load(v_re.terms() + l + k), b = load(v_im.terms() + l + k);
        rr += a * e_re[k];
        ii += b * e_im[k];
        ri += b * e_re[k];
        ir += a * e_im[k];
      }
      double* re = child_local + 2 * c * terms + l;
      simd::store(re, load(g + l) * (rr - ii));
      simd::store(re + terms, load(g + l) * (ri + ir));
    }
  }
}

STRUCTMAT_CLONES
void translate(const Scheme& scheme, const Far* far, index_t count, double q, int columns,
               double* local) {
  for (index_t i = 0; i < count; ++i) {
    const Far& f = far[i];
    switch ((f.local_terms + lanes - 1) / lanes) {
      case 1:
        translate_one<1>(scheme, f, q, columns, local);
        break;
      case 2:
        translate_one<2>(scheme, f, q, columns, local);
        break;
      case 3:
        translate_one<3>(scheme, f, q, columns, local);
        break;
      case 4:
        translate_one<4>(scheme, f, q, columns, local);
        break;
      case 5:
        translate_one<5>(scheme, f, q, columns, local);
        break;
      case 6:
        translate_one<6>(scheme, f, q, columns, local);
        break;
      case 7:
        translate_one<7>(scheme, f, q, columns, local);
        break;
      default:
        translate_one<8>(scheme, f, q, columns, local);
    }
  }
}

STRUCTMAT_CLONES
void add_near(const Targets& targets, const Tree& tree, const Box& box, const Charges& charges,
              bool scaled) {
  const double* re = tree.re() + box.begin;
  const double* im = tree.im() + box.begin;
  for (int c = 0; c < charges.columns;) {
    const Targets out{targets.re, targets.im, targets.sums + 2 * c * targets.n, targets.n};
    const bool two = c + 1 < charges.columns;
    const int d = two ? c + 1 : c;
    const double* x[] = {charges.re(c) + box.begin, charges.im(c) + box.begin,
                         charges.re(d) + box.begin, charges.im(d) + box.begin};
    if (scaled) {
      two ? near_columns<2, true>(out, re, im, box.size(), x)
          : near_columns<1, true>(out, re, im, box.size(), x);
    } else {
      two ? near_columns<2, false>(out, re, im, box.size(), x)
          : near_columns<1, false>(out, re, im, box.size(), x);
    }
    c += two ? 2 : 1;
  }
}

STRUCTMAT_CLONES
void evaluate(const Scheme& scheme, const Disc& disc, int columns, const double* local,
              const Targets& targets) {
  const int terms = scheme.terms();
  const double inverse = disc.radius > 0 ? 1 / disc.radius : 0;
  constexpr int group = 4;
  for (index_t at = 0; at < targets.n; at += group * lanes) {
    const int vectors = static_cast<int>(std::min<index_t>(group, (targets.n - at) / lanes));
    V u_re[group] = {}, u_im[group] = {};
    for (int v = 0; v < vectors; ++v) {
      u_re[v] = (load(targets.re + at + v * lanes) - disc.re) * inverse;
      u_im[v] = (load(targets.im + at + v * lanes) - disc.im) * inverse;
    }
    for (int c = 0; c < columns; ++c) {
      const double* l_re = local + 2 * c * terms;
      const double* l_im = l_re + terms;
      V re[group] = {}, im[group] = {};
      for (int l = terms - 1; l >= 0; --l) {
        for (int v = 0; v < group; ++v) {
          const V r = l_re[l] + re[v] * u_re[v] - im[v] * u_im[v];
          im[v] = l_im[l] + re[v] * u_im[v] + im[v] * u_re[v];
          re[v] = r;
        }
      }
      double* out = targets.sums + 2 * c * targets.n + at;
      for (int v = 0; v < vectors; ++v) {
        simd::store(out + v * lanes, load(out + v * lanes) + re[v]);
        simd::store(out + targets.n + v * lanes, load(out + targets.n + v * lanes) + im[v]);
      }
    }
  }
}

}  // namespace structmat::cauchy::multipole
