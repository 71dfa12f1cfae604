#include "cli/progress.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kaisched::cli {

namespace {

constexpr std::chrono::milliseconds patience{400};
constexpr std::chrono::milliseconds tick_time{100};
constexpr std::size_t bar_width = 24;

}  // namespace

progress::progress(const console& to, std::size_t steps, line_interval every)
    : to_(to.err()), steps_(std::max<std::size_t>(steps, 1)), every_(every) {
  if (to.quiet()) return;
  if (to_.is_screen()) {
    ticker_ = std::thread([this] { tick(); });
  } else if (every_ > line_interval::zero()) {
    ticker_ = std::thread([this] { tell_lines(); });
  }
}

progress::~progress() { finish(); }

void progress::next(std::string_view what) {
  const std::lock_guard lock(mutex_);
  ++begun_;
  what_ = what;
}

void progress::now(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void progress::skip(std::size_t steps) {
  const std::lock_guard lock(mutex_);
  begun_ += steps;
}

void progress::finish() {
  if (!ticker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  ticker_.join();
}

void progress::tick() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, patience, [this] { return stop_; });
  while (!stop_) {
    draw();
    wake_.wait_for(lock, tick_time, [this] { return stop_; });
  }
  if (!drawn_) return;
  to_.print_raw("\r\x1b[K");
  to_.flush();
}

void progress::tell_lines() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, every_, [this] { return stop_; })) {
    const double seconds = std::chrono::duration<double>(clock::now() - start_).count();
    to_.line(fmt::format("kaisched: {:.0f} s: {}", seconds, what_));
    to_.flush();
  }
}

void progress::draw() {
  const std::size_t done = begun_ == 0 ? 0 : begun_ - 1;
  const std::size_t filled = std::min(bar_width, done * bar_width / steps_);
  const double seconds = std::chrono::duration<double>(clock::now() - start_).count();
  const std::string tail = fmt::format(" {}/{}  {:.1f} s  {}", done, steps_, seconds, what_);
  const std::size_t room = to_.width() > bar_width + 1 ? to_.width() - bar_width - 1 : 1;
  to_.print_raw("\r\x1b[K");
  to_.print(to_.paint(style::green, repeat("━", filled)) + to_.paint(style::dim, repeat("─", bar_width - filled)) +
            cut(tail, room));
  to_.flush();
  drawn_ = true;
}

}  // namespace kaisched::cli
