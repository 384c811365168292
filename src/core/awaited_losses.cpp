#include "core/awaited_losses.hpp"

#include <algorithm>

#include "base/renew.hpp"

namespace ham::inline v1::detail {

void awaited_losses::add(node_t process, continuation* what, std::int64_t until_ns) {
  all_.push_back({process, what, until_ns});
  if (until_ns < next_ns()) next_ns_.store(until_ns, std::memory_order_relaxed);
}

template <class IsDue>
void awaited_losses::release(IsDue is_due) noexcept {
  std::int64_t next = base::never_ns;
  auto kept = all_.begin();
  for (const waiting& one : all_) {
    if (is_due(one)) {
      due_.push(one.what);
      continue;
    }
    next = std::min(next, one.until_ns);
    *kept++ = one;
  }
  all_.erase(kept, all_.end());
  next_ns_.store(next, std::memory_order_relaxed);
}

void awaited_losses::lost(node_t process) noexcept {
  if (!all_.empty()) release([&](const waiting& one) { return one.process == process; });
}

void awaited_losses::expire(std::int64_t now_ns) noexcept {
  if (now_ns >= next_ns()) release([&](const waiting& one) { return now_ns >= one.until_ns; });
}

void awaited_losses::detach_after_fork() noexcept {
  base::renew(all_);  // another thread may have been changing them
  next_ns_.store(base::never_ns, std::memory_order_relaxed);
}

}  // namespace ham::detail
