#include "cli/trials.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace kaisched::cli {

trial_runner::trial_runner(trial_setup how) : how_(std::move(how)) {
  for (std::size_t i = 0; i < std::max<std::size_t>(how_.jobs, 1); ++i) workers_.emplace_back().place.number = i;
  for (worker& one : workers_) one.thread = std::thread([this, &one] { work(one); });
}

trial_runner::~trial_runner() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    for (worker& one : workers_) one.place.process.end();
  }
  to_workers_.notify_all();
  for (worker& one : workers_) one.thread.join();
}

void trial_runner::work(worker& mine) {
  std::unique_lock lock(mutex_);
  for (;;) {
    to_workers_.wait(lock, [&] { return over_ || mine.asked; });
    if (over_) return;
    const io::scenario asked = std::move(*mine.asked);
    mine.asked.reset();
    lock.unlock();
    const result<bool> answer = [&]() -> result<bool> {
      try {
        return how_.ask(asked, mine.place);
      } catch (const std::exception& fault) {
        return error{status::internal, fault.what(), {}};
      }
    }();
    lock.lock();
    take(mine, answer);
    changed_ = true;
    to_caller_.notify_one();
  }
}

void trial_runner::take(worker& mine, const result<bool>& answer) {
  mine.busy = false;
  ++answered_;
  if (mine.round != round_ || mine.ended) return;
  if (!answer) {
    failure_ = answer.failure();
    stop_ = trial_stop::failed;
  } else if (*answer && mine.number < round_answers_.first.value_or(mine.number + 1)) {
    round_answers_.first = mine.number;
    end_from(mine.number + 1);
  }
}

void trial_runner::end_from(std::size_t number) {
  for (worker& one : workers_) {
    if (!waits_in_round(one) || one.number < number) continue;
    one.ended = true;
    one.place.process.end();
  }
}

bool trial_runner::hand_out(answers& of, const std::function<std::optional<io::scenario>()>& next,
                            std::unique_lock<std::mutex>& lock) {
  const auto idle = std::find_if(workers_.begin(), workers_.end(), [](const worker& one) { return !one.busy; });
  if (!of.more || of.first || stop_ != trial_stop::none || idle == workers_.end()) return false;
  lock.unlock();
  std::optional<io::scenario> made = next();
  lock.lock();
  of.more = made.has_value();
  if (!made) return false;
  if (of.first) return false;  // found meanwhile
  idle->place.process.renew();
  idle->asked = std::move(made);
  idle->number = of.made++;
  idle->round = round_;
  idle->busy = true;
  idle->ended = false;
  idle->begun = clock::now();
  to_workers_.notify_all();
  return true;
}

bool trial_runner::is_decided(const answers& of) const {
  if (stop_ != trial_stop::none) return true;
  return std::none_of(workers_.begin(), workers_.end(),
                      [&](const worker& one) {
                        return waits_in_round(one) && !one.ended && one.number < of.first.value_or(of.made);
                      }) &&
         (of.first || !of.more);
}

void trial_runner::wait(std::unique_lock<std::mutex>& lock) {
  std::optional<clock::time_point> until = how_.until;
  for (const worker& one : workers_) {
    if (!how_.most_each || !waits_in_round(one) || one.ended) continue;
    const clock::time_point end = one.begun + *how_.most_each;
    until = until ? std::min(*until, end) : end;
  }
  const auto ready = [this] { return changed_ || stop_ != trial_stop::none; };
  if (until) {
    to_caller_.wait_until(lock, *until, ready);
  } else {
    to_caller_.wait(lock, ready);
  }
  changed_ = false;
  const clock::time_point now = clock::now();
  if (how_.until && now >= *how_.until && stop_ == trial_stop::none) stop_ = trial_stop::time;
  for (worker& one : workers_) {
    if (!how_.most_each || !waits_in_round(one) || one.ended || now < one.begun + *how_.most_each) continue;
    one.ended = true;
    one.place.process.end();
  }
}

std::optional<std::size_t> trial_runner::first(const std::function<std::optional<io::scenario>()>& next) {
  std::unique_lock lock(mutex_);
  ++round_;
  round_answers_ = {};
  for (;;) {
    while (hand_out(round_answers_, next, lock)) {
    }
    if (is_decided(round_answers_)) break;
    wait(lock);
    if (how_.progress) how_.progress(answered_);
  }
  end_from(0);
  return round_answers_.first;
}

void trial_runner::stop(trial_stop why) {
  {
    const std::lock_guard lock(mutex_);
    if (stop_ == trial_stop::none) stop_ = why;
  }
  to_caller_.notify_one();
}

trial_stop trial_runner::stopped() {
  const std::lock_guard lock(mutex_);
  if (stop_ == trial_stop::none && how_.until && clock::now() >= *how_.until) stop_ = trial_stop::time;
  return stop_;
}

}  // namespace kaisched::cli
