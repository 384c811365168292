#include "runtime/peer_arenas.hpp"

#include <algorithm>
#include <utility>

namespace ham::inline v1::detail {

peer_arenas::state peer_arenas::ask(node_t node, const transport::arena_handle& handle) {
  {
    std::lock_guard guard(mutex_);
    if (all_.size() >= max_peers && !all_.contains(node)) return state::refused;
    const auto [found, fresh] = all_.try_emplace(node);
    entry& one = found->second;
    if (!fresh) return one.lost || one.handle != handle ? state::refused : one.how;
    one.handle = handle;
    if (handle.size == 0 || own_ == handle) {
      one.how = state::refused;
      return one.how;
    }
    want();
  }
  wake();
  return state::wanted;
}

std::shared_ptr<transport::peer_arena> peer_arenas::find(node_t node) const noexcept {
  std::lock_guard guard(mutex_);
  const auto found = all_.find(node);
  return found == all_.end() || found->second.lost ? nullptr : found->second.arena;
}

bool peer_arenas::refuses(node_t node) const noexcept {
  std::lock_guard guard(mutex_);
  const auto found = all_.find(node);
  return found != all_.end() && (found->second.lost || found->second.how == state::refused);
}

bool peer_arenas::forget(node_t node) noexcept {
  std::lock_guard guard(mutex_);
  const auto found = all_.find(node);
  if (found == all_.end()) return false;
  if (found->second.how == state::refused) {
    all_.erase(found);
    return false;
  }
  found->second.lost = true;
  want();
  return true;
}

/// Without the mutex the device opens: who asks meanwhile does not wait.
void peer_arenas::open_wanted() noexcept {
  clear_wanted();  // before the look: what is asked for behind it is for the next time
  for (;;) {
    node_t node = -1;
    transport::arena_handle handle;
    {
      std::lock_guard guard(mutex_);
      const auto next = std::ranges::find_if(
          all_, [](const auto& one) { return one.second.how == state::wanted && !one.second.lost; });
      if (next == all_.end()) break;
      node = next->first;
      handle = next->second.handle;
    }
    std::shared_ptr<transport::peer_arena> opened = of_.open_peer(handle);
    std::lock_guard guard(mutex_);
    entry& one = all_[node];  // nobody but this thread erases it
    one.how = opened == nullptr ? state::refused : state::open;
    one.arena = std::move(opened);
  }
  close_lost();
}

/// One that a copy still uses waits for the next time, which is asked for. Nobody finds it any more, so that none
/// begins to use it.
void peer_arenas::close_lost() noexcept {
  std::unique_lock lock(mutex_);
  for (auto next = all_.begin(); next != all_.end();) {
    const auto one = next++;
    if (!one->second.lost) continue;
    if (one->second.arena.use_count() > 1) {
      want();
      continue;
    }
    auto closed = all_.extract(one);
    next = all_.upper_bound(closed.key());
    lock.unlock();
    closed = {};
    lock.lock();
  }
}

}  // namespace ham::detail
