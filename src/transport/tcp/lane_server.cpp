// Who serves a lane ends with it; somebody else joins the thread.
#include "transport/tcp/lane_server.hpp"

#include <algorithm>
#include <utility>

#include "base/thread.hpp"
#include "transport/tcp/bulk_server.hpp"

namespace ham::inline v1::transport::tcp {

void lane_server::serve(node_t peer, connection with) {
  reap();
  auto on = std::make_shared<lane>(std::move(with));
  std::lock_guard guard(mutex_);
  const auto theirs =
      std::count_if(served_.begin(), served_.end(), [&](const served& one) { return one.peer == peer; });
  if (stopping_ || static_cast<std::size_t>(theirs) >= max_lanes_per_peer) return;
  served_.push_back({peer, on, {}});
  try {
    served_.back().thread = base::start_thread([this, on] { serve_bulk(*on, memory_); });
  } catch (...) {
    served_.pop_back();
    throw;
  }
}

std::size_t lane_server::count(node_t peer) const noexcept {
  std::lock_guard guard(mutex_);
  return static_cast<std::size_t>(std::count_if(
      served_.begin(), served_.end(), [&](const served& one) { return one.peer == peer && !one.on->over(); }));
}

void lane_server::cut(node_t peer) noexcept {
  std::lock_guard guard(mutex_);
  for (const served& one : served_) {
    if (one.peer == peer) one.on->cut();
  }
}

/// One by one, which takes no memory.
void lane_server::reap() noexcept {
  for (;;) {
    std::thread ended;
    {
      std::lock_guard guard(mutex_);
      const auto over = std::find_if(served_.begin(), served_.end(), [](const served& one) { return one.on->over(); });
      if (over == served_.end()) return;
      ended = std::move(over->thread);
      served_.erase(over);
    }
    ended.join();
  }
}

void lane_server::stop() noexcept {
  std::vector<served> all;
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
    all.swap(served_);
  }
  for (const served& one : all) one.on->cut();
  for (served& one : all) one.thread.join();
}

}  // namespace ham::transport::tcp
