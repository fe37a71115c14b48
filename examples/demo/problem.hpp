/// \file
/// The matrices of the demo, each from a series of measurements, each dense: that is what a user
/// has.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "structmat/structmat.hpp"

namespace demo {

using structmat::Array;
using structmat::index_t;
using structmat::Order;

/// A matrix, and what is known about it beforehand.
struct Problem {
  std::string name;     ///< of the picture
  std::string title;    ///< what the matrix is
  std::string because;  ///< why its order is what it is
  Array<double, 2> matrix;
  Order least, most;               ///< an order outside of these is an error
  std::vector<std::string> notes;  ///< further results, to be printed
  bool ok = true;                  ///< did the checks of the builder pass?
};

/// Two columns of numbers.
struct Series {
  std::vector<double> time, value;
};

/// Columns 1 and 2 of a text file. Throws structmat::FileError.
Series read_series(const std::filesystem::path& path);

/// Matern-3/2 covariance of the observation times, with noise on the diagonal. Order 2.
Problem matern(const Series& co2);

/// Inverse stiffness matrix of a string whose mesh nodes are the observation times. Order 1.
Problem string_inverse(const Series& co2);

/// Toeplitz covariance of the autoregressive process fitted to the sunspot numbers. Order 9, its
/// memory.
Problem autoregression(const Series& sunspots);

/// Exponential kernel between values instead of times. Order about n/3: structure brings nothing.
Problem unsorted_values(const Series& co2);

}  // namespace demo
