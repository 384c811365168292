// Threads that wait for another one's progress.
#include "core/parking.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace ham::inline v1::detail {

void parking::wait(const std::function<bool()>& done, std::int64_t until_ns) {
  sleeper me{&done, {}, nullptr};
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  base::heavy_fence_private();
  {
    std::unique_lock lock(mutex_);
    me.next = first_;
    first_ = &me;
    // Who saw nobody waiting has settled before the fence: it shows here.
    if (!done()) {
      if (until_ns == base::never_ns)
        me.news.wait(lock);
      else
        me.news.wait_for(lock, std::chrono::nanoseconds(std::max<std::int64_t>(0, until_ns - base::now_ns())));
    }
    sleeper** at = &first_;
    while (*at != &me) at = &(*at)->next;
    *at = me.next;
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void parking::wake_finished() noexcept {
  std::lock_guard guard(mutex_);
  for (sleeper* one = first_; one != nullptr; one = one->next) {
    if ((*one->done)()) one->news.notify_one();
  }
}

void parking::wake_all() noexcept {
  if (waiting_.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard guard(mutex_);
  for (sleeper* one = first_; one != nullptr; one = one->next) one->news.notify_one();
}

}  // namespace ham::detail
