#include "runtime/page_locks.hpp"

namespace ham::inline v1::detail {

bool page_locks::has(std::span<std::byte> pages) {
  {
    std::lock_guard guard(mutex_);
    if (all_.size() == max_places && !all_.contains({pages.data(), pages.size()})) return false;
    const auto [found, fresh] = all_.try_emplace({pages.data(), pages.size()}, state::wanted);
    if (!fresh) return found->second == state::locked;
    want();
  }
  wake();
  return false;
}

/// The device locks without the mutex: who asks meanwhile does not wait.
void page_locks::lock_wanted() noexcept {
  for (;;) {
    place next{nullptr, 0};
    {
      std::lock_guard guard(mutex_);
      for (const auto& [where, how] : all_)
        if (how == state::wanted) next = where;
      if (next.first == nullptr) {
        clear_wanted();
        return;
      }
    }
    const bool locked = of_.lock_pages({next.first, next.second});
    std::lock_guard guard(mutex_);
    all_[next] = locked ? state::locked : state::refused;
  }
}

}  // namespace ham::detail
