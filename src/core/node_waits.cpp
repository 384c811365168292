#include "core/node_waits.hpp"

#include <algorithm>

#include "base/renew.hpp"

namespace ham::inline v1::detail {

void node_waits::add(node_t node, continuation* what, std::int64_t until_ns) {
  all_.push_back({node, what, until_ns});
  if (until_ns < next_ns()) next_ns_.store(until_ns);
}

template <class IsDue>
void node_waits::release_if(IsDue is_due) noexcept {
  std::int64_t next = base::never_ns;
  auto kept = all_.begin();
  for (const waiting& one : all_) {
    if (is_due(one)) {
      due_->push(one.what);
      continue;
    }
    next = std::min(next, one.until_ns);
    *kept++ = one;
  }
  all_.erase(kept, all_.end());
  next_ns_.store(next);
}

void node_waits::release(node_t node) noexcept {
  if (!all_.empty()) release_if([&](const waiting& one) { return one.node == node; });
}

void node_waits::expire(std::int64_t now_ns) noexcept {
  if (now_ns >= next_ns()) release_if([&](const waiting& one) { return now_ns >= one.until_ns; });
}

void node_waits::detach_after_fork() noexcept {
  base::renew(all_);  // another thread may have been changing them
  next_ns_.store(base::never_ns);
}

}  // namespace ham::detail
