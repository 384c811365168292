// A small table under a lock: who calls a number that was never replaced does not get here.
#include "core/replacements.hpp"

#include <algorithm>
#include <utility>

#include "base/renew.hpp"
#include "ham/offload/detail/handle_check.hpp"

namespace ham::inline v1::detail {

constinit std::atomic<bool> handles_may_be_old{false};

namespace {

constinit thread_local const replacements::rebuilding* innermost = nullptr;

}  // namespace

replacements::rebuilding::rebuilding(const replacements& of, node_t number, node_t process) noexcept
    : of_(&of), number_(number), process_(process), before_(std::exchange(innermost, this)) {}
replacements::rebuilding::~rebuilding() { innermost = before_; }

replacements::state replacements::of(node_t number) const {
  for (const rebuilding* one = innermost; one != nullptr; one = one->before_) {
    if (one->of_ == this && one->number_ == number) return {true, one->process_, phase::up, {}, true, true};
  }
  std::lock_guard guard(mutex_);
  const auto found = records_.find(number);
  if (found == records_.end()) return {false, number, phase::up, {}, false, true};
  const record& one = found->second;
  return {true, one.process, one.now, one.reason, false, one.was_up};
}

replacements::starting::starting(replacements& of, node_t process, node_t number) noexcept : of_(of) {
  if (number < 0) return;
  std::lock_guard guard(of_.mutex_);
  of_.started_process_ = process;
  of_.started_number_ = number;
}
replacements::starting::~starting() {
  std::lock_guard guard(of_.mutex_);
  of_.started_process_ = -1;
}

node_t replacements::number_at_start(node_t process) const {
  std::lock_guard guard(mutex_);
  return process == started_process_ ? started_number_ : number_locked(process);
}

node_t replacements::number_of(node_t process) const {
  std::lock_guard guard(mutex_);
  return number_locked(process);
}

/// mutex_ is held.
node_t replacements::number_locked(node_t process) const {
  for (const auto& [number, one] : records_) {
    if (one.process == process || std::ranges::find(one.before, process) != one.before.end()) return number;
  }
  return process;
}

std::vector<replacements::listed> replacements::all() const {
  std::lock_guard guard(mutex_);
  std::vector<listed> list;
  for (const auto& [number, one] : records_) list.emplace_back(number, one.process, static_cast<std::uint8_t>(one.now));
  return list;
}

void replacements::set(node_t number, node_t process, phase now, std::string reason) {
  std::lock_guard guard(mutex_);
  set_locked(number, process, now, std::move(reason));
  changed();
}

void replacements::set_locked(node_t number, node_t process, phase now, std::string reason) {
  record& one = records_[number];
  if (process != number) handles_may_be_old.store(true, std::memory_order_relaxed);
  if (one.process != process && one.process >= 0) {
    if (one.before.size() == max_remembered) one.before.erase(one.before.begin());
    one.before.push_back(one.process);
  }
  one.was_up = now == phase::up || process == number || (one.process == process && one.was_up);
  one.process = process;
  one.now = now;
  one.reason = std::move(reason);
  if (now != phase::restarting) waiting_.release(number);
}

bool replacements::run_when_decided(node_t number, continuation* what, std::int64_t until_ns) {
  std::lock_guard guard(mutex_);
  const auto found = records_.find(number);
  if (!waiting_.can_wait() || found == records_.end() || found->second.now != phase::restarting) return false;
  waiting_.add(number, what, until_ns);
  return true;
}

void replacements::expire(std::int64_t now_ns) noexcept {
  if (now_ns < next_ns()) return;
  std::lock_guard guard(mutex_);
  waiting_.expire(now_ns);
}

void replacements::forget(node_t number) noexcept {
  std::lock_guard guard(mutex_);
  waiting_.release(number);
  records_.erase(number);
  changed();
}

void replacements::end() noexcept {
  std::lock_guard guard(mutex_);
  std::erase_if(records_,
                [](const auto& one) { return one.second.now == phase::up && one.second.process == one.first; });
  for (auto& [number, one] : records_) {
    if (one.now == phase::restarting) {
      try {
        one.reason = "node " + std::to_string(number) + " is not started again: its job ends";
      } catch (const std::bad_alloc&) {  // calls fail with the loss of the process that it has had
      }
    }
    one.now = phase::given_up;
  }
  waiting_.release_all();
  changed();
}

void replacements::take_over(const std::vector<listed>& all) {
  std::lock_guard guard(mutex_);
  for (auto at = records_.begin(); at != records_.end();) {
    const auto is_it = [&](const listed& one) { return std::get<0>(one) == at->first; };
    if (std::ranges::any_of(all, is_it)) {
      ++at;
      continue;
    }
    waiting_.release(at->first);
    at = records_.erase(at);
  }
  for (const auto& [number, process, now] : all) set_locked(number, process, static_cast<phase>(now), {});
  changed();
}

/// mutex_ is held.
void replacements::changed() noexcept {
  any_.store(!records_.empty(), std::memory_order_release);
  version_.fetch_add(1, std::memory_order_acq_rel);
}

void replacements::detach_after_fork() noexcept {
  base::renew(mutex_);
  base::renew(records_);  // another thread may have been changing them
  started_process_ = -1;
  waiting_.detach_after_fork();
  any_.store(false);
}

}  // namespace ham::detail
