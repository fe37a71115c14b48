/// \file
/// Explicit instantiation of templates for all types of the library: M(T) or M(T, kind of transition).
#pragma once

#include <complex>

#define STRUCTMAT_FOR_SCALARS(M) \
  M(float)                       \
  M(double)                      \
  M(std::complex<float>)         \
  M(std::complex<double>)

#define STRUCTMAT_FOR_KINDS(M, T) \
  M(T, Scalar)                    \
  M(T, Diagonal)                  \
  M(T, Dense)

#define STRUCTMAT_FOR_SCALARS_AND_KINDS(M)    \
  STRUCTMAT_FOR_KINDS(M, float)               \
  STRUCTMAT_FOR_KINDS(M, double)              \
  STRUCTMAT_FOR_KINDS(M, std::complex<float>) \
  STRUCTMAT_FOR_KINDS(M, std::complex<double>)
