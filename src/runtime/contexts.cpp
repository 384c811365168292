// Threads of contexts.
#include "runtime/contexts.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

std::uint32_t contexts::open(std::size_t stack_bytes) {
  std::lock_guard guard(mutex_);
  if (stopped_) throw error("this node is ending; no context can be opened");
  join_finished();
  auto one = std::make_unique<worker>();
  worker& self = *one;
  self.id = next_++;
  self.thread = base::sized_thread([this, &self] { work(self); }, stack_bytes);
  workers_.emplace(self.id, std::move(one));
  engine_.standby.start();
  return self.id;
}

bool contexts::push(std::uint32_t context, stored_message message) {
  std::lock_guard guard(mutex_);
  const auto found = workers_.find(context);
  if (found == workers_.end()) return false;
  worker& to = *found->second;
  std::lock_guard queue_guard(to.mutex);
  if (to.closing) return false;
  to.queue.push_back(std::move(message));
  engine_.counters.count_in_contexts(1);
  to.news.store(true, std::memory_order_release);
  to.wake.notify_one();
  return true;
}

std::optional<stored_message> contexts::withdraw(const peer& from, std::uint32_t call) {
  std::lock_guard guard(mutex_);
  for (auto& [id, one] : workers_) {
    std::lock_guard queue_guard(one->mutex);
    const auto found = std::find_if(one->queue.begin(), one->queue.end(), [&](const stored_message& waiting) {
      return waiting.from == &from && waiting.head.is_call() && waiting.head.id() == call;
    });
    if (found == one->queue.end()) continue;
    std::optional<stored_message> withdrawn(std::move(*found));
    one->queue.erase(found);
    engine_.counters.count_in_contexts(-1);
    return withdrawn;
  }
  return std::nullopt;
}

bool contexts::any(const std::function<bool(const stored_message&)>& is_meant) {
  std::lock_guard guard(mutex_);
  return std::ranges::any_of(workers_, [&](const auto& one) {
    worker& at = *one.second;
    std::lock_guard queue_guard(at.mutex);
    return std::ranges::any_of(at.queue, is_meant);
  });
}

void contexts::work(worker& self) {
  this_thread.context = &self;
  const engine_scope scope(&engine_);
  std::unique_lock lock(self.mutex);
  for (bool worked = false;; worked = true) {
    if (worked && self.queue.empty() && !self.closing) {
      self.news.store(false, std::memory_order_relaxed);
      lock.unlock();
      engine_.standby.poll_for_context(self.news);
      lock.lock();
    }
    self.wake.wait(lock, [&] { return !self.queue.empty() || self.closing; });
    if (self.queue.empty()) break;
    stored_message message = std::move(self.queue.front());
    self.queue.pop_front();
    engine_.counters.count_in_contexts(-1);
    lock.unlock();
    engine_.flow.give(message.bytes.size());
    engine_.calls_in.run_stored(message);
    engine_.end_forked_child();
    lock.lock();
  }
  self.finished = true;
}

bool contexts::on_context_thread() noexcept { return this_thread.context != nullptr; }

std::uint32_t contexts::current() noexcept {
  const auto* const self = static_cast<const worker*>(this_thread.context);
  return self == nullptr ? 0 : self->id;
}

std::uint32_t contexts::of_call() noexcept { return this_thread.depth != 0 ? 0 : current(); }

void contexts::count_lost(std::uint32_t context) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = workers_.find(context);
  if (found != workers_.end()) found->second->lost.fetch_add(1);
}

void contexts::fail_if_lost() {
  auto* const self = static_cast<worker*>(this_thread.context);
  const std::uint64_t lost = self == nullptr ? 0 : self->lost.exchange(0);
  if (lost == 0) return;
  throw call_error(std::to_string(lost) + " calls by ping to context " + std::to_string(self->id) + " of node " +
                       std::to_string(engine_.self()) +
                       " were not run (too many calls waited there); ping less at once, or use async",
                   call_error_reason::too_many_calls);
}

void contexts::close_current() {
  auto* const self = static_cast<worker*>(this_thread.context);
  if (self == nullptr) throw error("no context to close (this call did not arrive in a context)");
  std::lock_guard guard(self->mutex);
  self->closing = true;
}

void contexts::end(std::uint32_t context) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = workers_.find(context);
  if (found == workers_.end()) return;
  worker& one = *found->second;
  std::lock_guard queue_guard(one.mutex);
  one.closing = true;
  one.news.store(true, std::memory_order_release);
  one.wake.notify_one();
}

void contexts::join_finished() {
  std::erase_if(workers_, [](auto& entry) {
    worker& one = *entry.second;
    {
      std::lock_guard guard(one.mutex);
      if (!one.finished) return false;
    }
    one.thread.join();
    return true;
  });
}

std::vector<stored_message> contexts::close_all() {
  std::vector<stored_message> left;
  std::lock_guard guard(mutex_);
  stopped_ = true;
  for (auto& [id, one] : workers_) {
    std::lock_guard queue_guard(one->mutex);
    one->closing = true;
    for (const stored_message& message : one->queue) engine_.flow.drop(message.bytes.size());
    one->news.store(true, std::memory_order_release);
    engine_.counters.count_in_contexts(-static_cast<std::int32_t>(one->queue.size()));
    std::move(one->queue.begin(), one->queue.end(), std::back_inserter(left));
    one->queue.clear();
    one->wake.notify_one();
  }
  return left;
}

void contexts::stop() {
  static_cast<void>(close_all());
  std::map<std::uint32_t, std::unique_ptr<worker>> ending;
  {
    std::lock_guard guard(mutex_);
    ending.swap(workers_);
  }
  for (auto& [id, one] : ending) one->thread.join();
}

}  // namespace ham::detail
