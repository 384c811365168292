// An event, and what it stands for.
#include "transport/shm/host_commands.hpp"

#include <new>

#include "base/event_fds.hpp"

namespace ham::inline v1::transport::shm {

namespace {

constexpr const char* ending = "this host is about to end; it starts no targets any more";

}  // namespace

host_commands::host_commands() : event_(base::make_event()) {}

void host_commands::signal() const noexcept { base::signal_event(event_.get()); }

void host_commands::start(std::vector<target_plan> plans, std::uint32_t nodes) {
  std::unique_lock lock(mutex_);
  if (stopped_) throw config_error(ending);
  next_.plans = std::move(plans);
  next_.nodes = nodes;
  next_.starts = true;
  starting_ = true;
  signal();
  done_.wait(lock, [&] { return !starting_; });
  if (!problem_.empty()) throw config_error(problem_);
}

void host_commands::end(node_t node, std::int64_t until_ns) {
  {
    std::lock_guard guard(mutex_);
    next_.ending.emplace_back(node, until_ns);
  }
  signal();
}

void host_commands::forget(node_t node) noexcept {
  try {
    std::lock_guard guard(mutex_);
    next_.forgotten.push_back(node);
  } catch (const std::bad_alloc&) {
    return;
  }
  signal();
}

bool host_commands::stop() noexcept {
  {
    std::lock_guard guard(mutex_);
    if (std::exchange(stopped_, true)) return false;
    next_.stop = true;
  }
  signal();
  return true;
}

host_commands::batch host_commands::take() {
  base::drain_event(event_.get());
  std::lock_guard guard(mutex_);
  if (next_.stop && next_.starts) settle_start(ending);
  return std::exchange(next_, batch{});
}

void host_commands::started(std::string problem) {
  std::lock_guard guard(mutex_);
  settle_start(std::move(problem));
}

void host_commands::settle_start(std::string problem) {
  problem_ = std::move(problem);
  starting_ = false;
  done_.notify_all();
}

}  // namespace ham::transport::shm
