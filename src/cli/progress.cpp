#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string_view>

namespace structmat::cli {
namespace {

std::atomic<bool> visible{false};

void put(std::string_view text) noexcept {
  // A terminal that is gone is no reason to fail.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void erase_progress() noexcept {
  if (visible.exchange(false)) put("\r\033[K");
}

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) != 0) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  erase_progress();
}

void Progress::run(const std::stop_token& stop) {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  auto pause = milliseconds(1000);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
    if (stop.stop_requested()) return;
    const double fraction = fraction_;
    const auto seconds = duration_cast<std::chrono::seconds>(steady_clock::now() - start).count();
    visible = true;
    put(fraction >= 0 ? fmt::format("\r\033[K{}: {:.0f} %", what_, 100 * fraction)
                      : fmt::format("\r\033[K{}: {} s", what_, seconds));
    pause = milliseconds(250);
  }
}

}  // namespace structmat::cli
