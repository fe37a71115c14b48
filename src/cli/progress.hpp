/// \file
/// A line on stderr that says how far a long command is.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace structmat::cli {

/// While it lives: after a second, and only on a terminal, a line with the percentage set last or,
/// without one, the seconds gone. Erased at the end.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// 0 to 1; from any thread.
  void set(double fraction) { fraction_ = fraction; }

 private:
  void run(const std::stop_token& stop);

  std::string what_;
  std::atomic<double> fraction_{-1};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

/// For signal handlers: erases the line if there is one.
void erase_progress() noexcept;

}  // namespace structmat::cli
