/// \file
/// The terms of products with Cauchy and Cauchy-like matrices and of their gradients.
#pragma once

#include "cauchy/reciprocal.cuh"
#include "cauchy/tiled_sums.cuh"

namespace structmat::cauchy::device {

template <class T, int N>
struct Few {
  T v[N];
};
template <class T>
struct Few<T, 0> {};

/// sum_j w_ij x_jc with w_ij = (a_i . b_j) / (s_i - t_j)^Power, without conjugation; a_i . b_j is 1 for
/// Factors = 0, and otherwise taken Factors numbers a pass. Columns are taken Columns at a time.
template <class T, int Columns, int Factors, int Power>
struct DirectTerm {
  using Scalar = T;
  using R = gpu::real_of_t<T>;
  static constexpr int outputs = Columns;
  /// Registers: a row has 1 + Factors + 2 Columns numbers.
  static constexpr int rows = Columns + Factors > 4 ? (sizeof(T) <= 4   ? 4
                                                       : sizeof(T) <= 8 ? 2
                                                                        : 1)
                                                    : (sizeof(T) <= 4   ? 8
                                                       : sizeof(T) <= 8 ? 4
                                                                        : 2);
  /// A special function costs as much as eight other operations in single precision, and no more
  /// than the five of a pair in double: there two pairs would gain nothing by sharing one.
  static constexpr int step = std::is_same_v<T, float> ? 2 : 1;

  struct Row {
    T node;
    Few<T, Factors> factor;
  };
  struct alignas(Factors == 0 && Columns == 1 ? 2 * sizeof(T) <= 16 ? 2 * sizeof(T) : 16
                                              : alignof(T)) Source {
    T node;
    T charge[Columns];
    Few<T, Factors> factor;
    __device__ void clear() {
#pragma unroll
      for (int c = 0; c < Columns; ++c) charge[c] = T(0);
      if constexpr (Factors > 0) {
#pragma unroll
        for (int l = 0; l < Factors; ++l) factor.v[l] = T(0);
      }
    }
  };

  Shape shape;
  gpu::Strided<const T, 2> s, t;
  gpu::Strided<const T, 3> x, a, b;
  index_t order;
  bool conjugate_x, conjugate_a, conjugate_b, skip;

  __host__ __device__ int passes() const {
    return Factors == 0 ? 1 : static_cast<int>((order + Factors - 1) / (Factors > 0 ? Factors : 1));
  }
  __device__ void load_factor(Few<T, Factors>& factor, const gpu::Strided<const T, 3>& from,
                              bool conjugated, index_t batch, index_t line, int pass) const {
    if constexpr (Factors > 0) {
#pragma unroll
      for (int l = 0; l < Factors; ++l) {
        const index_t at = index_t{pass} * Factors + l;
        factor.v[l] = at < order ? gpu::conjugate_if(conjugated, T(from(batch, line, at))) : T(0);
      }
    }
  }
  __device__ Row row(index_t batch, index_t i, int pass) const {
    Row own;
    own.node = s(batch, i);
    load_factor(own.factor, a, conjugate_a, batch, i, pass);
    return own;
  }
  __device__ Source source(index_t batch, index_t j, index_t output_tile, int pass) const {
    Source own;
    own.node = t(batch, j);
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      const index_t column = output_tile * Columns + c;
      own.charge[c] =
          column < shape.outputs ? gpu::conjugate_if(conjugate_x, T(x(batch, j, column))) : T(0);
    }
    load_factor(own.factor, b, conjugate_b, batch, j, pass);
    return own;
  }
  __device__ bool bears(const Row& row) const {
    return at_most(row.node, most_squared<R>);
  }
  __device__ bool bears(const Source& source) const {
    return at_most(source.node, most_squared<R>);
  }

  __device__ void add_weighted(const Row& row, const Source& source, T reciprocal,
                               T (&sum)[Columns]) const {
    T weight = reciprocal;
    if constexpr (Factors > 0) {
      T dot = row.factor.v[0] * source.factor.v[0];
#pragma unroll
      for (int l = 1; l < Factors; ++l)
        dot = gpu::multiply_add(row.factor.v[l], source.factor.v[l], dot);
      weight = dot * reciprocal;
    }
    if constexpr (Power == 2) weight = weight * reciprocal;
#pragma unroll
    for (int c = 0; c < Columns; ++c) sum[c] = gpu::multiply_add(weight, source.charge[c], sum[c]);
  }
  __device__ void add(const Row& row, const Source* source, T (&sum)[Columns]) const {
    if constexpr (step == 2) {
      const Source first = source[0], second = source[1];
      const T d = row.node - first.node, e = row.node - second.node;
      const T both = fast_reciprocal(d * e);
      add_weighted(row, first, both * e, sum);
      add_weighted(row, second, both * d, sum);
    } else {
      const Source own = source[0];
      const T d = row.node - own.node;
      if constexpr (gpu::is_complex<T>) {
        const R r = fast_reciprocal(fma(d.re, d.re, d.im * d.im));
        add_weighted(row, own, {d.re * r, -d.im * r}, sum);
      } else {
        add_weighted(row, own, fast_reciprocal(d), sum);
      }
    }
  }
  __device__ void complete(const Row&, T (&)[Columns]) const {}
  __device__ void add_exactly(const Row& row, const Source& source, T (&sum)[Columns]) const {
    add_weighted(row, source, exact_reciprocal(row.node - source.node, skip), sum);
  }
};

/// y_ic = +-sum_j w_ij x_jc as the terms have it; `factors`: with a and b.
template <class T>
struct DirectSums {
  index_t batch = 0, rows = 0, sources = 0, columns = 0, order = 0;
  gpu::Strided<const T, 2> s{}, t{};
  gpu::Strided<const T, 3> x{}, a{}, b{};
  bool factors = false;
  int power = 1;
  bool conjugate_x = false, conjugate_a = false, conjugate_b = false, skip = false;

  /// call(term) with the kernel's terms that fit.
  template <class Call>
  auto with_term(Call&& call) const {
    const auto term = [&]<class Term>(Term own) {
      own.shape = {batch, rows, sources, columns};
      own.s = s, own.t = t, own.x = x, own.a = a, own.b = b;
      own.order = order;
      own.conjugate_x = conjugate_x;
      own.conjugate_a = conjugate_a;
      own.conjugate_b = conjugate_b;
      own.skip = skip;
      return call(own);
    };
    if (power == 2) {
      return columns == 1 ? term(DirectTerm<T, 1, 4, 2>{}) : term(DirectTerm<T, 4, 4, 2>{});
    }
    if (factors) {
      return columns == 1 ? term(DirectTerm<T, 1, 4, 1>{}) : term(DirectTerm<T, 4, 4, 1>{});
    }
    return columns == 1 ? term(DirectTerm<T, 1, 0, 1>{}) : term(DirectTerm<T, 4, 0, 1>{});
  }
};

}  // namespace structmat::cauchy::device
