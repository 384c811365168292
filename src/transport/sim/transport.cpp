// Polling, sleeping, and hearing of others.
#include "transport/sim/transport.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/thread.hpp"

namespace ham::inline v1::transport::sim {

node_transport::node_transport(network& among, node_t self, base::heap* memory, observer& to, bool reaches_others)
    : network_(among), self_(self), observer_(to), one_sided_(reaches_others), event_(base::make_event()) {
  network_.join(self_, *this, memory);
  reporter_ = base::start_thread([this] { report_news(); });
}

node_transport::~node_transport() { shutdown(); }

void node_transport::connect(node_t peer) {
  if (!network_.introduce(self_, peer)) observer_.on_lost(peer, "it cannot be reached");
}

void node_transport::on_news(news what) {
  std::lock_guard guard(mutex_);
  news_.push_back(std::move(what));
  news_here_.notify_all();
}

void node_transport::report_news() {
  std::unique_lock lock(mutex_);
  for (;;) {
    news_here_.wait(lock, [this] { return stop_ || !news_.empty(); });
    if (stop_) return;
    const news next = std::move(news_.front());
    news_.pop_front();
    lock.unlock();
    switch (next.what) {
      case news::kind::connected: introduce(next); break;
      case news::kind::lost: observer_.on_lost(next.node, next.reason); break;
      case news::kind::died: observer_.on_died(next.node, next.reason); break;
    }
    lock.lock();
  }
}

void node_transport::introduce(const news& what) {
  auto made = std::make_unique<sim_endpoint>(network_, self_, what.node);
  made->medium = node_transport::name();  // named so: what is derived may begin or end meanwhile
  if (one_sided_ && what.has_memory) made->set_memory(std::make_shared<sim_memory>(network_, what.node));
  sim_endpoint& one = *made;
  observer_.on_connected(one);
  pending_.add(std::move(made));
  node_transport::wake();
}

void node_transport::adopt_pending() {
  for (auto& one : pending_.take()) {
    auto& to = one->state() == endpoint_state::open ? endpoints_ : leaving_;
    to.push_back(std::move(one));
  }
}

endpoint* node_transport::poll(frame& out, unsigned) {
  leaving_.clear();
  if (pending_.any()) adopt_pending();
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    cursor_ = (cursor_ + 1) % endpoints_.size();
    if (endpoints_[cursor_]->poll(out)) return endpoints_[cursor_].get();
  }
  return nullptr;
}

bool node_transport::arm() {
  base::drain_event(event_.get());
  armed_.store(true, std::memory_order_seq_cst);
  if (!pending_.any() && next_arrival_ns() > base::now_ns()) return true;
  disarm();
  return false;
}

std::int64_t node_transport::next_arrival_ns() const {
  std::int64_t next = base::never_ns;
  for (const auto& one : endpoints_) {
    if (one->state() == endpoint_state::open) next = std::min(next, one->next_arrival_ns());
  }
  return next;
}

std::int64_t node_transport::max_sleep_ns() const noexcept {
  const std::int64_t next = next_arrival_ns();
  return next == base::never_ns ? next : std::max<std::int64_t>(0, next - base::now_ns());
}

void node_transport::forget(endpoint& with) noexcept {
  with.close("forgotten");
  const auto found = std::ranges::find_if(endpoints_, [&](const auto& one) { return one.get() == &with; });
  if (found == endpoints_.end()) {
    pending_.look();  // it is not taken in yet, or of another transport
    return;
  }
  leaving_.push_back(std::move(*found));
  endpoints_.erase(found);
}

void node_transport::wake() noexcept { base::signal_event(event_.get()); }

void node_transport::shutdown() noexcept {
  network_.leave(self_);
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
    news_here_.notify_all();
  }
  if (reporter_.joinable()) reporter_.join();
}

}  // namespace ham::transport::sim
