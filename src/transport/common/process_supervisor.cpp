// Ends are seen by epoll where the kernel has a descriptor for the process, else by asking now and then.
#include "transport/common/process_supervisor.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/refused_call.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr std::int64_t poll_ns = 10'000'000;  // for those without a descriptor
/// A big process takes a while to give its memory back; its end is certain, so a second is enough to reap it.
constexpr std::chrono::seconds reap_timeout{1};
constexpr std::size_t max_remembered = 1024;
constexpr std::chrono::milliseconds at_once{0};

}  // namespace

process_supervisor::process_supervisor() : epoll_(base::make_epoll()) {}

void process_supervisor::start(id who, const base::process_request& what) {
  adopt(who, std::make_unique<child_process>(base::start_process(what)));
}

void process_supervisor::adopt(id who, std::unique_ptr<supervised_process> one) {
  if (one->end_fd() >= 0) {
    epoll_event interest{EPOLLIN, {.u64 = static_cast<std::uint64_t>(who)}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, one->end_fd(), &interest);
  }
  {
    std::lock_guard guard(mutex_);
    pids_[who] = one->pid();
    std::erase(ended_, who);
  }
  running_.insert_or_assign(who, record{std::move(one), base::never_ns});
}

void process_supervisor::kill_at(id who, std::int64_t time_ns) noexcept {
  if (const auto found = running_.find(who); found != running_.end()) found->second.kill_ns = time_ns;
}

std::string process_supervisor::reap(place at, std::chrono::milliseconds timeout) {
  std::string how = at->second.process->wait_for_end(timeout);
  if (how.empty()) return how;
  const id who = at->first;
  if (const int fd = at->second.process->end_fd(); fd >= 0) base::unwatch(epoll_.get(), fd);
  running_.erase(at);
  std::lock_guard guard(mutex_);
  ended_.push_back(who);
  if (ended_.size() > max_remembered) {
    pids_.erase(ended_.front());
    ended_.pop_front();
  }
  return how;
}

std::string process_supervisor::wait(id who, std::chrono::milliseconds timeout) {
  const auto found = running_.find(who);
  return found == running_.end() ? std::string() : reap(found, timeout);
}

std::int64_t process_supervisor::pid(id who) const noexcept {
  std::lock_guard guard(mutex_);
  const auto found = pids_.find(who);
  return found == pids_.end() ? -1 : found->second;
}

std::int64_t process_supervisor::next_ns() const noexcept {
  std::int64_t next = base::never_ns;
  bool asks = false;
  for (const auto& [who, one] : running_) {
    next = std::min(next, one.kill_ns);
    asks = asks || one.process->end_fd() < 0;
  }
  return asks ? std::min(next, base::now_ns() + poll_ns) : next;
}

/// Those that epoll names, those that must be asked, and those whose time is over.
std::set<process_supervisor::id> process_supervisor::due(std::int64_t now) const {
  std::set<id> found;
  std::array<epoll_event, 64> ended{};  // there may be more: fd() stays readable
  const int count = ::epoll_wait(epoll_.get(), ended.data(), static_cast<int>(ended.size()), 0);
  for (int i = 0; i < count; ++i) found.insert(static_cast<id>(ended[static_cast<std::size_t>(i)].data.u64));
  for (const auto& [who, one] : running_) {
    if (one.process->end_fd() < 0 || one.kill_ns <= now) found.insert(who);
  }
  return found;
}

std::vector<process_supervisor::event> process_supervisor::turn() {
  std::vector<event> events;
  const std::int64_t now = base::now_ns();
  for (const id who : due(now)) {
    const auto at = running_.find(who);
    if (at == running_.end()) continue;
    const bool late = at->second.kill_ns <= now;
    if (std::string how = reap(at, at_once); !how.empty()) {
      events.push_back({event::kind::ended, who, std::move(how)});
    } else if (late) {
      at->second.kill_ns = base::never_ns;
      at->second.process->kill();
      events.push_back({event::kind::killed, who, {}});
    }
  }
  return events;
}

/// The epoll is the parent's, too: nothing is taken out of it here.
void process_supervisor::detach_after_fork() noexcept {
  epoll_.reset();
  running_.clear();
  std::lock_guard guard(mutex_);
  pids_.clear();
  ended_.clear();
}

void process_supervisor::stop(std::chrono::milliseconds timeout) noexcept {
  const std::int64_t until = base::now_ns() + std::chrono::nanoseconds(timeout).count();
  while (!running_.empty()) {
    const auto at = running_.begin();
    const std::int64_t left_ms = std::max<std::int64_t>(0, (until - base::now_ns()) / 1'000'000);
    if (!reap(at, std::chrono::milliseconds(left_ms)).empty()) continue;
    at->second.process->kill();
    if (reap(at, reap_timeout).empty()) running_.erase(at);
  }
}

}  // namespace ham::transport
