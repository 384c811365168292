// Parts of graphs by number, and the graphs of this node.
#include "runtime/graph_parts.hpp"

#include <sys/random.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/renew.hpp"
#include "runtime/engine.hpp"
#include "runtime/graph_messages.hpp"

namespace ham::inline v1::detail {

using offload::detail::part_address;

// ---- parts of this node

namespace {

/// Numbers of one process are taken for those of another one only if both begin alike: a node that was started again
/// must not answer for the one before.
std::uint64_t first_part_number() noexcept {
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random))
    random = static_cast<std::uint32_t>(base::now_ns());
  return std::uint64_t{random | 1U} << 32U;
}

/// Tells the node of a graph, once no lock is held, that a part has lost another one.
struct loss_report : continuation {
  loss_report(engine& node, const part_address& origin, node_t which, const std::string& reason)
      : continuation{[](continuation* self) {
          auto* const me = static_cast<loss_report*>(self);
          send_loss(*me->at, me->to, me->lost, me->why);
          delete me;
        }},
        at(&node),
        to(origin),
        lost(which),
        why(reason) {}
  engine* at;
  part_address to;
  node_t lost;
  std::string why;
};

}  // namespace

graph_parts::graph_parts(engine& at, stopped_node& node, ready_queue& due) noexcept
    : at_(at), node_(node), due_(due), last_(first_part_number()) {}

std::uint64_t graph_parts::reserve() {
  const std::lock_guard guard(lock_);
  places_.push_back({++last_, {}});
  return last_;
}

void graph_parts::install(std::uint64_t id, std::shared_ptr<graph_part> part) {
  const std::lock_guard guard(lock_);
  if (place* const one = place_of(id); one != nullptr && one->part == nullptr && !one->released) {
    one->part = std::move(part);
    return;
  }
  throw call_error("a part of a graph for a place that this node does not have; compile graphs by offload::graph");
}

/// The lock is held.
graph_parts::place* graph_parts::usable(std::uint64_t id) noexcept {
  place* const one = place_of(id);
  return one == nullptr || one->part == nullptr || one->released ? nullptr : one;
}

part_hold graph_parts::hold(std::uint64_t id) noexcept {
  const std::lock_guard guard(lock_);
  place* const one = usable(id);
  if (one == nullptr) return {};
  ++one->holds;
  return {*this, id, *one->part};
}

void graph_parts::let_go(std::uint64_t id) noexcept {
  std::shared_ptr<graph_part> gone;  // ends behind the lock
  const std::lock_guard guard(lock_);
  gone = let_go_locked(id);
}

/// The lock is held; what it gives ends behind it.
std::shared_ptr<graph_part> graph_parts::let_go_locked(std::uint64_t id) noexcept {
  place* const one = place_of(id);
  if (--one->holds != 0 || !one->released) return nullptr;
  std::shared_ptr<graph_part> gone = std::move(one->part);
  places_.erase(places_.begin() + (one - places_.data()));
  return gone;
}

template <class Work>
void graph_parts::work_in(std::uint64_t id, std::uint32_t replay, bool starts, const replay_terms& terms,
                          Work work) noexcept {
  graph_part* part = nullptr;
  graph_part::frame* in = nullptr;
  graph_part::frame* given_up = nullptr;
  {
    const std::lock_guard guard(lock_);
    place* const one = usable(id);
    if (one == nullptr) return;
    part = one->part.get();
    in = part->enter_locked(replay, starts, terms, given_up);
    if (in == nullptr) return;  // and nothing was given up
    ++one->holds;
  }
  part->give_up(given_up);
  const graph_part::outcome of_replay = work(*part, *in);
  std::shared_ptr<graph_part> gone;
  std::unique_lock guard(lock_);
  graph_part::frame* const unused = graph_part::leave_locked(*in);
  if (of_replay.finished) [[unlikely]] {  // a later replay may begin at once
    guard.unlock();
    part->observer()->on_result(replay, of_replay.result);
    guard.lock();
  }
  gone = let_go_locked(id);
  guard.unlock();
  graph_part::free(unused);
}

void graph_parts::start(std::uint64_t id, std::uint32_t replay, std::span<const std::byte> inputs,
                        const replay_terms& terms) noexcept {
  work_in(id, replay, true, terms,
          [inputs](graph_part& part, graph_part::frame& in) { return part.start_in(in, inputs); });
}

void graph_parts::deliver(std::uint64_t id, std::uint32_t replay, std::uint32_t port, std::span<const std::byte> value,
                          const replay_terms& terms) noexcept {
  work_in(id, replay, false, terms,
          [port, value](graph_part& part, graph_part::frame& in) { return part.deliver_in(in, port, value); });
}

part_hold::~part_hold() {
  if (of_ != nullptr) of_->let_go(id_);
}

/// The lock is held. Numbers grow, and with them what is listed.
const graph_parts::place* graph_parts::place_of(std::uint64_t id) const noexcept {
  const auto found = std::lower_bound(places_.begin(), places_.end(), id,
                                      [](const place& one, std::uint64_t wanted) { return one.id < wanted; });
  return found == places_.end() || found->id != id ? nullptr : &*found;
}

void graph_parts::release(std::uint64_t id) noexcept {
  std::shared_ptr<graph_part> gone;  // ends behind the lock
  const std::lock_guard guard(lock_);
  place* const found = place_of(id);
  if (found == nullptr) return;
  found->released = true;
  if (found->holds != 0) return;
  gone = std::move(found->part);
  places_.erase(places_.begin() + (found - places_.data()));
}

std::size_t graph_parts::installed() const noexcept {
  const std::lock_guard guard(lock_);
  return places_.size();
}

void graph_parts::enlist(replay_owner& one) {
  at_.waits.lock();
  try {
    owners_.insert(owners_.begin(), {0, &one});
  } catch (...) {
    at_.waits.unlock();
    throw;
  }
  at_.waits.unlock();
}

void graph_parts::remove(replay_owner& one) noexcept {
  at_.waits.lock();
  std::erase_if(owners_, [&](const owner& listed) { return listed.of == &one; });
  at_.waits.unlock();
}

void graph_parts::lose(node_t node, const std::string& why) noexcept {
  for (const owner& one : owners_) one.of->lose(node);
  std::vector<std::shared_ptr<graph_part>> gone;
  const std::lock_guard guard(lock_);
  try {
    for (place& one : places_) {
      if (one.part == nullptr) continue;
      const bool is_over = one.part->from() == node;
      if (is_over) {
        one.released = true;
        if (one.holds != 0) continue;
        gone.push_back(std::move(one.part));
        one.id = 0;
      } else if (one.part->from() != at_.self() && !at_.is_ending() && one.part->is_neighbour(node)) {
        due_.push(new loss_report(at_, one.part->of().parts[0], node, why));
      }
    }
  } catch (const std::bad_alloc&) {  // the graph's node sees the loss as well, unless it is that of a connection only
  }
  std::erase_if(places_, [](const place& one) { return one.id == 0; });
}

bool graph_parts::expire(call_slot& slot) noexcept {
  return std::any_of(owners_.begin(), owners_.end(), [&](const owner& one) { return one.of->expire(slot); });
}

bool graph_parts::stop(call_slot& slot) noexcept {
  return std::any_of(owners_.begin(), owners_.end(), [&](const owner& one) { return one.of->stop(slot); });
}

void graph_parts::expect_results(replay_owner& of, std::uint64_t part) noexcept {
  const auto listed = std::find_if(owners_.begin(), owners_.end(), [&](const owner& one) { return one.of == &of; });
  if (listed == owners_.end()) return;
  const auto behind = std::upper_bound(owners_.begin(), owners_.end(), part,
                                       [](std::uint64_t wanted, const owner& one) { return wanted < one.results; });
  listed->results = part;
  if (behind <= listed)
    std::rotate(behind, listed, listed + 1);
  else
    std::rotate(listed, listed + 1, behind);
}

void graph_parts::take_result(node_t node, std::uint64_t part, std::uint32_t replay,
                              std::span<const std::byte> value) noexcept {
  const auto found = std::lower_bound(owners_.begin(), owners_.end(), part,
                                      [](const owner& one, std::uint64_t wanted) { return one.results < wanted; });
  if (part != 0 && found != owners_.end() && found->results == part) found->of->take_result(node, replay, value);
}

held_replay graph_parts::replay_of(const call_slot& slot) const noexcept {
  for (const owner& one : owners_) {
    if (const std::uint32_t number = one.of->number_of(slot); number != 0) return {one.of->keep(), number};
  }
  return {};
}

void graph_parts::clear() noexcept {
  std::vector<place> all;
  const std::lock_guard guard(lock_);
  all.swap(places_);
  owners_.clear();
  for (place& one : all) {
    one.released = true;
    if (one.holds != 0) places_.push_back(std::move(one));
  }
}

void graph_parts::detach_after_fork() noexcept {
  base::renew(lock_);
  stage_stops_.detach_after_fork();
}

}  // namespace ham::detail
