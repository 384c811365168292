// Events that repeat are counted where they wait, so that a storm of them needs no memory.
#include "core/event_reports.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/renew.hpp"

namespace ham::inline v1 {

namespace offload {

const char* to_string(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::joined: return "joined";
    case event_kind::lost: return "lost";
    case event_kind::queue_full: return "queue full";
    case event_kind::deadline_missed: return "deadline missed";
    case event_kind::hang: return "hang";
    case event_kind::respawned: return "respawned";
    case event_kind::given_up: return "given up";
  }
  return "unknown";
}

}  // namespace offload

namespace detail {
namespace {

bool repeats(offload::event_kind kind) noexcept {
  return kind == offload::event_kind::queue_full || kind == offload::event_kind::deadline_missed;
}

/// It must not throw: what it throws is reported.
void call(const offload::event_handler& handler, const offload::event& what) noexcept {
  const auto report = [](const char* why) {
    base::log("runtime", base::log_level::error, "the handler of offload::on_event has thrown: %s", why);
  };
  try {
    handler(what);
  } catch (const std::exception& thrown) {
    report(thrown.what());
  } catch (...) {
    report("something that is no std::exception");
  }
}

}  // namespace

void event_reports::use(offload::event_handler handler) {
  auto made = handler ? std::make_shared<const offload::event_handler>(std::move(handler)) : nullptr;
  {
    std::lock_guard guard(mutex_);
    handler_.swap(made);
    has_handler_.store(handler_ != nullptr, std::memory_order_relaxed);
    if (handler_ == nullptr) {
      waiting_.clear();
      beyond_ = {};
    }
  }
}

void event_reports::add(offload::event_kind kind, node_t node, std::string_view reason, bool orderly) noexcept {
  std::lock_guard guard(mutex_);
  if (handler_ == nullptr) return;
  if (!merge(kind, node)) {
    try {
      if (waiting_.size() >= max_waiting) throw std::bad_alloc();
      waiting_.push_back({kind, node, 1, orderly, std::string(reason)});
    } catch (const std::bad_alloc&) {
      ++beyond_[static_cast<std::size_t>(kind) % kinds];
    }
  }
  if (!std::exchange(due_to_run_, true)) due_.push(&delivery_);
}

/// Only with the latest of its kind and node that nothing else of the node has followed: the order stays.
bool event_reports::merge(offload::event_kind kind, node_t node) noexcept {
  if (!repeats(kind)) return false;
  for (auto at = waiting_.rbegin(); at != waiting_.rend(); ++at) {
    if (at->node != node) continue;
    if (at->kind == kind) {
      ++at->count;
      return true;
    }
    if (!repeats(at->kind)) return false;
  }
  return false;
}

/// mutex_ is held.
std::size_t event_reports::kinds_beyond() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(beyond_, [](auto count) { return count != 0; }));
}

/// mutex_ is held.
std::vector<offload::event> event_reports::take() {
  std::vector<offload::event> taken;
  const std::size_t beyond = kinds_beyond();
  if (beyond != 0) waiting_.reserve(waiting_.size() + beyond);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    if (beyond_[kind] != 0)
      waiting_.push_back({static_cast<offload::event_kind>(kind), -1, std::exchange(beyond_[kind], 0), false, {}});
  }
  taken.swap(waiting_);
  return taken;
}

/// What is added meanwhile comes behind whatever else is due.
void event_reports::deliver() noexcept {
  std::vector<offload::event> taken;
  std::shared_ptr<const offload::event_handler> handler;
  bool memory = true;
  try {
    std::lock_guard guard(mutex_);
    taken = take();
    handler = handler_;
  } catch (const std::bad_alloc&) {
    std::lock_guard guard(mutex_);
    taken.swap(waiting_);  // the counts wait for the next event
    handler = handler_;
    memory = false;
  }
  if (handler != nullptr) {
    for (const offload::event& one : taken) call(*handler, one);
  }
  std::lock_guard guard(mutex_);
  due_to_run_ = !waiting_.empty() || (memory && kinds_beyond() != 0);
  if (due_to_run_) due_.push(&delivery_);
}

void event_reports::detach_after_fork() noexcept {
  base::renew(mutex_);
  has_handler_.store(false);
  handler_ = nullptr;
}

}  // namespace detail
}  // namespace ham
