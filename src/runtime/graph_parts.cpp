// Parts of graphs by number, and the messages of replays, which are pings.
#include "runtime/graph_parts.hpp"

#include <sys/random.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/renew.hpp"
#include "core/remote_exception.hpp"
#include "ham/offload/call.hpp"
#include "runtime/always_runs.hpp"
#include "runtime/end_of_handle.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

using offload::detail::part_address;
using offload::detail::part_plan;

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

graph_parts::graph_parts(engine& at, ready_queue& due) noexcept : at_(at), due_(due), last_(first_part_number()) {}

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
void graph_parts::work_in(std::uint64_t id, std::uint32_t replay, bool starts, Work work) noexcept {
  graph_part* part = nullptr;
  graph_part::frame* in = nullptr;
  {
    const std::lock_guard guard(lock_);
    place* const one = usable(id);
    if (one == nullptr) return;
    part = one->part.get();
    in = part->enter_locked(replay, starts);
    if (in == nullptr) return;
    ++one->holds;
  }
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

void graph_parts::start(std::uint64_t id, std::uint32_t replay, std::span<const std::byte> inputs) noexcept {
  work_in(id, replay, true, [inputs](graph_part& part, graph_part::frame& in) { return part.start_in(in, inputs); });
}

void graph_parts::deliver(std::uint64_t id, std::uint32_t replay, std::uint32_t port,
                          std::span<const std::byte> value) noexcept {
  work_in(id, replay, false,
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

void graph_parts::detach_after_fork() noexcept { base::renew(lock_); }

// ---- what nodes call of each other

std::uint64_t reserve_graph_part() { return current().graphs.reserve(); }

void install_graph_part(node_t from, const part_plan& plan) {
  engine& at = current();
  check_part(plan);
  if (plan.own == 0)
    throw call_error("a part of a graph that cannot be sent (it is that of the node that has compiled it)");
  at.graphs.install(plan.parts[plan.own].id, std::make_shared<graph_part>(at, from, plan));
  for (const std::uint32_t one : plan.neighbours) static_cast<void>(at.peer_of(plan.parts[one].node));
}

void release_graph_part(std::uint64_t id) { current().graphs.release(id); }

void start_graph_part(std::uint64_t id, std::uint32_t replay, std::span<const std::byte> inputs) {
  current().graphs.start(id, replay, inputs);
}

void deliver_to_graph_part(std::uint64_t id, std::uint32_t replay, std::uint32_t port,
                           std::span<const std::byte> value) {
  current().graphs.deliver(id, replay, port, value);
}

void abort_graph_replay(std::uint64_t id, std::uint32_t replay) {
  if (const part_hold part = current().graphs.hold(id)) part->abort(replay);
}

void fail_graph_replay(std::uint64_t id, std::uint32_t replay, std::uint32_t stage, std::string name, node_t node,
                       std::span<const std::byte> exception) {
  const part_hold part = current().graphs.hold(id);
  if (!part || part->observer() == nullptr) return;
  engine& at = current();
  offload::node_descriptor::info from;
  if (const peer_hold who = at.peers.hold(node)) from = who->about.description();
  from.node = node;
  part->observer()->on_failed(replay, stage, decode_exception(exception, name, from));
}

void lose_graph_node(std::uint64_t id, node_t node, const std::string& why) {
  const part_hold part = current().graphs.hold(id);
  if (part && part->observer() != nullptr) part->observer()->on_lost(node, why);
}

void answer_graph_probe() {}

[[maybe_unused]] static const bool graph_calls_run =
    always_run(fn<&reserve_graph_part>, fn<&install_graph_part>, fn<&release_graph_part>);

// ---- sending

namespace {

offload::destination destination_of(const engine& at, const part_address& to) noexcept {
  return {at.exactly(to.node), 0, at.serial};
}

/// What cannot be said to a node that is gone need not be said.
template <class Send>
void send_if_there(Send send) noexcept {
  try {
    send();
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace

void send_to_part(engine& at, const part_address& to, std::uint32_t replay, std::uint32_t port,
                  std::span<const std::byte> value) {
  offload::ping(destination_of(at, to), fn<&deliver_to_graph_part>, to.id, replay, port, value);
}

namespace {

void write_result(std::byte* at, std::size_t size, std::uint64_t part, std::span<const std::byte> value) noexcept {
  msg::writer to(at, size);
  to.number(part);
  to.bytes(value.data(), value.size());
}

}  // namespace

void send_result(engine& at, const part_address& to, std::uint32_t replay, std::span<const std::byte> value) {
  const std::size_t size = replayed_prefix_bytes + value.size();
  const frame_header head = frame_header::replayed(replay);
  if (peer* const who = at.peers.lock(to.node)) {
    std::byte* const room = who->takes_replies() ? who->room_at_once(size) : nullptr;
    if (room != nullptr) [[likely]] {
      who->bytes_sent.count(size);
      write_result(room, size, to.id, value);
      who->commit(head);
      return;
    }
    who->sending.unlock();
  }
  const peer_hold who = at.peers.hold(to.node);
  if (!who || !who->takes_replies()) return;
  who->check_size(size, "the result of a graph");
  reply_room out;
  who->begin_reply(size, out);
  if (out.queued != nullptr) at.long_messages.start();
  write_result(out.data, size, to.id, value);
  at.replies.finish(head, out);
}

std::array<const msg::handler_entry*, 2> stage_messages() noexcept {
  using starting =
      call_of<std::decay_t<decltype(fn<&start_graph_part>)>, std::uint64_t, std::uint32_t, std::span<const std::byte>>;
  using delivering = call_of<std::decay_t<decltype(fn<&deliver_to_graph_part>)>, std::uint64_t, std::uint32_t,
                             std::uint32_t, std::span<const std::byte>>;
  return {&starting::message::entry(), &delivering::message::entry()};
}

void send_start(engine& at, const part_address& to, std::uint32_t replay, std::span<const std::byte> inputs,
                std::int64_t deadline_ns) {
  offload::destination where = destination_of(at, to);
  where.deadline_ns = deadline_ns;
  offload::ping(where, fn<&start_graph_part>, to.id, replay, inputs);
}

using aborting = call_of<std::decay_t<decltype(fn<&abort_graph_replay>)>, std::uint64_t, std::uint32_t>::message;

bool receive_abort(engine& at, node_t from, std::uint64_t part, std::uint32_t replay) noexcept {
  at.receive_stops(false);
  at.waits.lock();  // also where another thread receives all the time
  const peer* const who = at.peers.has(from) ? &at.peers[from] : nullptr;
  const bool aborted =
      who != nullptr && std::any_of(who->deferred.begin(), who->deferred.end(), [&](const auto& one) {
        if (!one.head.is_call() || one.head.in_context() || one.head.key() != aborting::entry().key()) return false;
        try {
          msg::reader arguments(one.bytes);
          return msg::decode<std::uint64_t>(arguments) == part && msg::decode<std::uint32_t>(arguments) == replay;
        } catch (const protocol_error&) {
          return false;  // as will be said when it begins
        }
      });
  at.waits.unlock();
  return aborted;
}

bool try_send_abort(engine& at, const part_address& to, std::uint32_t replay) noexcept {
  bool sent = false;
  send_if_there([&] {
    const std::size_t bytes = aborting::size({}, to.id, replay);
    call_room room;
    if (!begin_call(at, destination_of(at, to), aborting::entry(), bytes, nullptr, when_full::refuse, room)) return;
    reservation message(room);
    msg::writer writer(room.data, bytes);
    aborting::encode(writer, {}, to.id, replay);
    finish_call(at, message.release());
    sent = true;
  });
  return sent;
}

/// As a reply: who waits for room here may be what the node waits for.
void send_abort(engine& at, const part_address& to, std::uint32_t replay) noexcept {
  if (try_send_abort(at, to, replay)) return;
  send_if_there([&] {
    const peer_hold who = at.peers.hold(to.node);
    if (!who || !who->takes_replies()) return;
    const std::uint32_t key = at.calls_out.key_on(*who, aborting::entry());
    const std::size_t bytes = aborting::size({}, to.id, replay);
    reply_room out;
    who->begin_reply(bytes, out);
    if (out.queued != nullptr) at.long_messages.start();
    msg::writer writer(out.data, bytes);
    aborting::encode(writer, {}, to.id, replay);
    who->count_calls(1);
    at.replies.finish(frame_header::flagged_call(key, no_reply, 0), out);
  });
}

void send_failure(engine& at, const part_address& to, std::uint32_t replay, std::uint32_t stage,
                  const std::string& name, const std::exception_ptr& why) noexcept {
  send_if_there([&] {
    std::vector<std::byte> bytes;
    try {
      std::rethrow_exception(why);
    } catch (...) {
      bytes = encode_current_exception();
    }
    try {
      offload::ping(destination_of(at, to), fn<&fail_graph_replay>, to.id, replay, stage, name, at.self(),
                    std::span<const std::byte>(bytes));
    } catch (const call_error&) {  // it is too long
      bytes = encode_call_error("the stage has thrown an exception that is too long to be sent",
                                call_error_reason::too_long);
      offload::ping(destination_of(at, to), fn<&fail_graph_replay>, to.id, replay, stage, std::string(), at.self(),
                    std::span<const std::byte>(bytes));
    }
  });
}

void send_loss(engine& at, const part_address& to, node_t node, const std::string& why) noexcept {
  send_if_there([&] { offload::ping(destination_of(at, to), fn<&lose_graph_node>, to.id, node, why); });
}

void send_release(engine& at, const part_address& to) noexcept {
  send_if_there([&] { offload::ping(destination_of(at, to), fn<&release_graph_part>, to.id); });
}

void probe_node(engine& at, node_t node, std::function<void()> then) noexcept {
  send_if_there([&] {
    offload::async(destination_of(at, {node, 0}), fn<&answer_graph_probe>)
        .on_result([then = std::move(then)](offload::future<void> answer) {
          if (answer.has_value()) then();
        });
  });
}

namespace {

/// Whether the answer comes by then. The call has no deadline: what it would own could not be given back if another
/// thread let it pass.
template <class Result>
[[nodiscard]] bool ends_by(const offload::future<Result>& asked, std::int64_t deadline_ns) {
  return deadline_ns == 0 || asked.wait_for(std::chrono::nanoseconds(deadline_ns - base::now_ns()));
}

[[nodiscard]] std::exception_ptr late_part() {
  return std::make_exception_ptr(
      deadline_exceeded("a node did not take its part of a graph before the deadline", call_outcome::not_run));
}

}  // namespace

std::vector<std::uint64_t> reserve_parts(engine& at, std::span<const node_t> nodes, std::int64_t deadline_ns) {
  std::vector<offload::future<std::uint64_t>> asked;
  std::exception_ptr failed;
  try {
    for (const node_t node : nodes)
      asked.push_back(offload::async(destination_of(at, {node, 0}), fn<&reserve_graph_part>));
  } catch (...) {
    failed = std::current_exception();
  }
  std::vector<std::uint64_t> made(nodes.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    try {
      if (ends_by(asked[i], deadline_ns)) {
        made[i] = asked[i].get();
        continue;
      }
      if (failed == nullptr) failed = late_part();
      std::move(asked[i]).on_result([&at, node = nodes[i]](offload::future<std::uint64_t> late) {
        if (late.has_value()) send_release(at, {node, late.get()});
      });
    } catch (...) {
      if (failed == nullptr) failed = std::current_exception();
    }
  }
  if (failed == nullptr) return made;
  for (std::size_t i = 0; i < asked.size(); ++i) {  // nothing is left where it was possible
    if (made[i] != 0) send_release(at, {nodes[i], made[i]});
  }
  std::rethrow_exception(failed);
}

/// What comes too late is released by who releases all parts: that arrives behind it.
void install_parts(engine& at, std::span<const part_plan> plans, std::int64_t deadline_ns) {
  std::vector<offload::future<void>> asked;
  std::exception_ptr failed;
  try {
    for (const part_plan& one : plans)
      asked.push_back(offload::async(destination_of(at, one.parts[one.own]), fn<&install_graph_part>, at.self(), one));
  } catch (...) {
    failed = std::current_exception();
  }
  for (offload::future<void>& one : asked) {  // all are read: else the user would be told of calls of the library
    try {
      if (ends_by(one, deadline_ns)) {
        one.get();
        continue;
      }
      if (failed == nullptr) failed = late_part();
      std::move(one).on_result([](const offload::future<void>& late) { static_cast<void>(late.error()); });
    } catch (...) {
      if (failed == nullptr) failed = std::current_exception();
    }
  }
  if (failed != nullptr) std::rethrow_exception(failed);
}

}  // namespace ham::detail
