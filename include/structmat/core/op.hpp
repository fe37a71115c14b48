/// \file
#pragma once

namespace structmat {

/// Which of A, A^T, A^H an operation uses.
enum class Op { none, transpose, adjoint };

}  // namespace structmat
