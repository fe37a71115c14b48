/// \file
/// The generalised Schur algorithm by divide and conquer (Ammar, Gragg, "Superfast solution of real
/// positive definite Toeplitz systems", SIAM J. Matrix Anal. Appl. 9 (1988)).
///
/// S steps of the recursion of predictor.hpp act on series as a 2 x 2 matrix of polynomials,
///   u := p u + q v,   v := z^S (conj(q) u + conj(p) v)(1/z)  in coefficients of p and q,
/// where (u, v) lose their first S coefficients. p and q have S coefficients each. The second row
/// being the first one backwards, transforms of p and q are all that products need:
///   u_{h+i} of p u + q v,   v_i of conj(p) v + conj(q) u   (cyclic of length S = 2 h, S - h of each),
///   p := p_2 p_1 + z^h q_2 conj(q_1),   q := p_2 q_1 + z^h q_2 conj(p_1),
/// with z^h = (-1)^j at frequency j. A node of S steps takes 10 transforms of length S: 6 for u and
/// v, of which those of p_1 and q_1 are used again, and 4 for p and q.
#pragma once

#include <vector>

#include "structmat/fft/plan.hpp"
#include "toeplitz/predictor.hpp"

namespace structmat::toeplitz {

/// For matrices of up to n rows. Const use is safe from several threads.
template <Scalar T>
class Superfast {
 public:
  /// Steps up to `base` (>= 1) are done one by one.
  Superfast(index_t n, index_t base);

  /// As levinson(); n up to that of the constructor. Workspace: about 16 n numbers.
  void run(const T* lags, index_t n, Pivots& pivots, T* a) const;

 private:
  struct Work;

  /// `count` steps from series (u, v) of `count` coefficients, at a level where there may be
  /// base_ 2^level of them. p and q: into work.polynomials[level]. False: a pivot is not positive.
  bool steps(std::size_t level, index_t count, const T* u, const T* v, Work& work,
             Pivots& pivots) const;
  bool base_steps(index_t count, const T* u, const T* v, Work& work, Pivots& pivots) const;

  index_t base_;
  /// plans_[l] transforms pairs of length base_ 2^(l + 1).
  std::vector<fft::Plan<T>> plans_;
};

}  // namespace structmat::toeplitz
