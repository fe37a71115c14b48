/// \file
/// Workspace that tasks borrow and give back, so that later ones touch no new pages.
#pragma once

#include <mutex>
#include <vector>

#include "structmat/core/array.hpp"

namespace structmat::toeplitz {

/// Arrays of one kind; safe from several threads at once.
template <Scalar C>
class Workspaces {
 public:
  Workspaces() {
    constexpr std::size_t most_spare = 64;
    spare_.reserve(most_spare);
  }

  /// At least `size` numbers for as long as this lives.
  class Loan {
   public:
    Loan(Workspaces& owner, index_t size) : owner_(owner) {
      {
        const std::lock_guard lock(owner_.mutex_);
        if (!owner_.spare_.empty()) {
          data_ = std::move(owner_.spare_.back());
          owner_.spare_.pop_back();
        }
      }
      if (data_.size() < size) data_ = Array<C, 1>({size}, uninitialized);
    }
    ~Loan() {
      const std::lock_guard lock(owner_.mutex_);
      // Never beyond what was reserved: a destructor must not allocate.
      if (owner_.spare_.size() < owner_.spare_.capacity())
        owner_.spare_.push_back(std::move(data_));
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    C* data() { return data_.data(); }

   private:
    Workspaces& owner_;
    Array<C, 1> data_;
  };

 private:
  std::mutex mutex_;
  std::vector<Array<C, 1>> spare_;
};

}  // namespace structmat::toeplitz
