// Links, and who is there.
#include "transport/sim/network.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "transport/common/heap_access.hpp"
#include "transport/sim/transport.hpp"

namespace ham::inline v1::transport::sim {
namespace {
constinit network* the_network = nullptr;
}  // namespace

network* current_network() noexcept { return the_network; }
void set_current_network(network* to) noexcept { the_network = to; }

void network::join(node_t node, node_transport& here, base::heap* memory) {
  std::lock_guard guard(mutex_);
  seats_[node] = {&here, memory, false};
}

void network::leave(node_t node) {
  std::lock_guard guard(mutex_);
  seat& mine = seats_[node];
  if (mine.here == nullptr) return;
  mine.here = nullptr;
  mine.memory = nullptr;
  for (auto& [nodes, met] : introduced_) {
    if (!met || (nodes.first != node && nodes.second != node)) continue;
    met = false;
    const seat& other = seats_[nodes.first == node ? nodes.second : nodes.first];
    if (other.here != nullptr) other.here->on_news({news::kind::lost, node, "it has left"});
  }
}

bool network::introduce(node_t from, node_t to) {
  std::lock_guard guard(mutex_);
  const seat& one = seats_[from];
  const seat& other = seats_[to];
  if (one.here == nullptr || other.here == nullptr || other.dead) return false;
  const auto nodes = both(from, to);
  if (introduced_.contains(nodes)) return introduced_[nodes];
  introduced_[nodes] = true;
  one.here->on_news({news::kind::connected, to, {}, other.memory != nullptr});
  other.here->on_news({news::kind::connected, from, {}, one.memory != nullptr});
  return true;
}

link& network::between(node_t from, node_t to) {
  std::lock_guard guard(mutex_);
  return between_unlocked(from, to);
}

link& network::between_unlocked(node_t from, node_t to) {
  link& on = connections_[{from, to}];
  on.from = from;
  on.to = to;
  return on;
}

bool network::has_room(const link& on) {
  std::lock_guard guard(mutex_);
  return on.cut || on.under_way.size() < by_.capacity(on.from, on.to);
}

void network::send(link& on, packet what) {
  std::unique_lock lock(mutex_);
  if (on.cut) return;
  by_.on_sent(on.from, on.to, what);
  what.arrives_ns = std::max(on.last_arrival_ns, base::now_ns() + by_.delay_ns(on.from, on.to));
  on.last_arrival_ns = what.arrives_ns;
  on.under_way.push_back(std::move(what));
  on.frames.store(on.under_way.size());
  lock.unlock();  // a process can be killed here: its frame is there, and it wakes nobody
  lock.lock();
  if (node_transport* const there = seats_[on.to].here) there->look_again();
}

const packet* network::arrived(const link& on) {
  if (on.frames.load() == 0) return nullptr;
  std::lock_guard guard(mutex_);
  if (on.under_way.empty()) return nullptr;
  const packet& first = on.under_way.front();
  return seats_[on.from].dead || first.arrives_ns <= base::now_ns() ? &first : nullptr;
}

void network::take(link& on) {
  std::lock_guard guard(mutex_);
  by_.on_consumed(on.from, on.to, on.under_way.front());
  on.under_way.pop_front();
  on.frames.store(on.under_way.size());
  ++on.consumed;
}

std::uint64_t network::consumed(const link& on) {
  std::lock_guard guard(mutex_);
  return on.consumed;
}

std::int64_t network::arrival_ns(const link& on) {
  if (on.frames.load() == 0) return base::never_ns;
  std::lock_guard guard(mutex_);
  if (on.under_way.empty()) return base::never_ns;
  return seats_[on.from].dead ? 0 : on.under_way.front().arrives_ns;
}

access_result network::access(node_t owner, std::uint64_t address, std::uint64_t tag, std::size_t size,
                              const std::byte* from, std::byte* to) {
  std::lock_guard guard(mutex_);
  const seat& there = seats_[owner];
  if (there.memory == nullptr || there.dead) return access_result::lost;
  const base::heap_check why = there.memory->check(address, tag, size);
  if (why == base::heap_check::valid) {
    auto* const at = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
    std::memcpy(to == nullptr ? at : to, to == nullptr ? from : at, size);
  }
  return to_access_result(why);
}

void network::cut(node_t first, node_t second) {
  std::lock_guard guard(mutex_);
  for (const auto& nodes : {std::pair(first, second), std::pair(second, first)}) {
    between_unlocked(nodes.first, nodes.second).cut = true;
    const seat& one = seats_[nodes.first];
    if (introduced_[both(first, second)] && one.here != nullptr && !one.dead)
      one.here->on_news({news::kind::lost, nodes.second, "the link is cut"});
  }
  introduced_[both(first, second)] = false;
}

void network::died(node_t node, node_t host) {
  std::lock_guard guard(mutex_);
  seat& gone = seats_[node];
  gone.dead = true;
  gone.here = nullptr;  // its heap stays: nobody touches it any more
  for (auto& [nodes, met] : introduced_) {
    if (!met || (nodes.first != node && nodes.second != node)) continue;
    met = false;
    const seat& other = seats_[nodes.first == node ? nodes.second : nodes.first];
    if (other.here != nullptr && !other.dead) other.here->on_news({news::kind::died, node, "it was killed"});
  }
  const seat& starter = seats_[host];
  if (node != host && !introduced_.contains(both(node, host)) && starter.here != nullptr && !starter.dead)
    starter.here->on_news({news::kind::died, node, "it was killed before it joined"});
}

bool network::is_there(node_t node) {
  std::lock_guard guard(mutex_);
  return seats_[node].here != nullptr && !seats_[node].dead;
}

}  // namespace ham::transport::sim
