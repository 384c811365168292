// Handlers of fork(). Only the thread that forked exists in the child, so nobody else is in the middle of anything, and
// whatever other threads had locked stays locked unless it is made anew.
#include "runtime/forks.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "base/clock.hpp"
#include "base/immortal.hpp"
#include "base/recorder.hpp"
#include "base/renew.hpp"
#include "core/call_stops.hpp"
#include "core/thread_state.hpp"
#include "core/unobserved.hpp"
#include "ham/msg/handler_table.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/device_polling.hpp"
#include "runtime/engine.hpp"
#include "runtime/objects.hpp"
#include "runtime/tracing.hpp"

namespace ham::inline v1::detail {
namespace {

struct register_of_engines {
  std::mutex mutex;
  std::vector<engine*> alive;
  pid_t process = ::getpid();
  pid_t parent = 0;  ///< whose job was left behind; 0: none was
};

/// A process may fork until its very end.
register_of_engines& all() { return base::immortal<register_of_engines>(); }

void before_fork() {
  all().mutex.lock();
  msg::handler_table::hold_for_fork();
}
void after_fork_here() {
  msg::handler_table::release_after_fork();
  all().mutex.unlock();
}

void after_fork_in_child() {
  msg::handler_table::release_after_fork();
  if (!all().alive.empty()) {
    all().parent = all().process;
    this_thread.current = nullptr;
    set_process_engine(nullptr);
  }
  all().process = ::getpid();
  forget_objects_after_fork();
  base::detach_recorder_after_fork();
  forget_tracing_after_fork();
  calls_on_devices.store(0, std::memory_order_relaxed);
  for (engine* one : all().alive) one->detach_after_fork();
  all().alive.clear();
  all().mutex.unlock();
}

}  // namespace

void detach_in_forks(engine& one) {
  static const int registered = ::pthread_atfork(&before_fork, &after_fork_here, &after_fork_in_child);
  if (registered != 0) throw std::bad_alloc();
  std::lock_guard guard(all().mutex);
  all().alive.push_back(&one);
}

void forget(engine& one) noexcept {
  std::lock_guard guard(all().mutex);
  std::erase(all().alive, &one);
}

namespace {

/// The register's lock is held.
engine* engine_of(std::uint64_t serial) noexcept {
  const auto found = std::find_if(all().alive.begin(), all().alive.end(),
                                  [serial](const engine* one) { return one->serial == serial; });
  return found == all().alive.end() ? nullptr : *found;
}

}  // namespace

engine* find_engine(std::uint64_t serial) noexcept {
  std::lock_guard guard(all().mutex);
  return engine_of(serial);
}

bool is_up(std::uint64_t serial) noexcept { return find_engine(serial) != nullptr; }

held_engine::held_engine(std::uint64_t serial) noexcept {
  std::lock_guard guard(all().mutex);
  at_ = engine_of(serial);
  if (at_ != nullptr) at_->holders.fetch_add(1, std::memory_order_relaxed);
}

held_engine::~held_engine() {
  if (at_ != nullptr) at_->holders.fetch_sub(1, std::memory_order_release);
}

void held_engine::settle(call_slot& slot, slot_state outcome) const noexcept { settle_background(*at_, slot, outcome); }

std::string why_forked_away() {
  if (all().parent == 0) return {};
  return "this process was forked from process " + std::to_string(all().parent) + ", whose job it is";
}

void engine::end_forked_child() const noexcept {
  if (detached_) ::_exit(EXIT_SUCCESS);
}

// Without memory there is nothing sensible left to do for the child.
void engine::detach_after_fork() noexcept {
  detached_ = true;
  counters.detach_after_fork();
  holders.store(0);
  transports_.detach_after_fork();
  owner = nullptr;
  waits.detach_after_fork();
  base::renew(mutex_);
  flow.detach_after_fork();
  peers.detach_after_fork();
  calls_in.detach_after_fork();
  reports.detach_after_fork();
  graphs.detach_after_fork();
  groups.detach_after_fork();
  repeated.detach_after_fork();
  if (this_thread.stop != nullptr) this_thread.stop->detach_after_fork();  // even if another thread was listing one
  numbers.detach_after_fork();
  losses.detach_after_fork();
  events.detach_after_fork();
  stop_.store(true);
  self_endpoint_.detach_after_fork();
  for (peer* const one : peers) {
    base::renew(one->sending);
    one->to = &no_endpoint::instance();
    one->about.detach_after_fork(why_forked_away());
    one->state.store(peer_state::lost);
  }
  memory.transfers().detach_after_fork();
  memory.started().detach_after_fork();
  if (memory.device() != nullptr) memory.device()->detach_after_fork();
  settled.detach_after_fork();
  calls.detach_after_fork(std::make_exception_ptr(runtime_ended("no result comes here (" + why_forked_away() + ")")));
}

}  // namespace ham::detail
