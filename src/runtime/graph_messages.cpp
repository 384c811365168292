// What nodes tell each other of the parts of graphs, and of replays: pings, but for the result and what installs a
// part.
#include "runtime/graph_messages.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "core/remote_exception.hpp"
#include "ham/offload/call.hpp"
#include "runtime/always_runs.hpp"
#include "runtime/end_of_handle.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

using offload::detail::part_address;
using offload::detail::part_plan;

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

namespace {

/// Time that is left, as it travels: clocks differ. 0: for ever.
std::uint64_t time_left(std::int64_t deadline_ns) noexcept {
  if (deadline_ns == base::never_ns) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, deadline_ns - base::now_ns()));
}
replay_terms stoppable_for(std::uint64_t left_ns) noexcept {
  const std::int64_t now = base::now_ns();
  const bool ends = left_ns != 0 && left_ns < static_cast<std::uint64_t>(base::never_ns - now);
  return {true, ends ? now + static_cast<std::int64_t>(left_ns) : base::never_ns};
}

}  // namespace

void start_stoppable_graph_part(std::uint64_t id, std::uint32_t replay, std::uint64_t left_ns,
                                std::span<const std::byte> inputs) {
  current().graphs.start(id, replay, inputs, stoppable_for(left_ns));
}

void deliver_to_stoppable_graph_part(std::uint64_t id, std::uint32_t replay, std::uint64_t left_ns, std::uint32_t port,
                                     std::span<const std::byte> value) {
  current().graphs.deliver(id, replay, port, value, stoppable_for(left_ns));
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
                  std::span<const std::byte> value, const replay_terms& terms) {
  if (terms.stoppable) [[unlikely]]
    offload::ping(destination_of(at, to), fn<&deliver_to_stoppable_graph_part>, to.id, replay,
                  time_left(terms.deadline_ns), port, value);
  else
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

namespace {

template <auto Function, class... Args>
const msg::handler_entry* message_of() noexcept {
  return &call_of<std::decay_t<decltype(fn<Function>)>, Args...>::message::entry();
}

}  // namespace

std::array<const msg::handler_entry*, 4> stage_messages() noexcept {
  using bytes = std::span<const std::byte>;
  return {message_of<&start_graph_part, std::uint64_t, std::uint32_t, bytes>(),
          message_of<&deliver_to_graph_part, std::uint64_t, std::uint32_t, std::uint32_t, bytes>(),
          message_of<&start_stoppable_graph_part, std::uint64_t, std::uint32_t, std::uint64_t, bytes>(),
          message_of<&deliver_to_stoppable_graph_part, std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t,
                     bytes>()};
}

void send_start(engine& at, const part_address& to, std::uint32_t replay, std::span<const std::byte> inputs,
                const replay_terms& terms, std::int64_t wait_ns) {
  offload::destination where = destination_of(at, to);
  where.deadline_ns = wait_ns;
  if (terms.stoppable)
    offload::ping(where, fn<&start_stoppable_graph_part>, to.id, replay, time_left(terms.deadline_ns), inputs);
  else
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
    const std::uint32_t key = at.calls_out.key_on(*who, aborting::entry(), 0);
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
    const auto send = [&](std::uint64_t max_bytes, const std::string& of) {
      std::vector<std::byte> bytes;
      try {
        std::rethrow_exception(why);
      } catch (...) {
        bytes = encode_current_exception(max_bytes);
      }
      offload::ping(destination_of(at, to), fn<&fail_graph_replay>, to.id, replay, stage, of, at.self(),
                    std::span<const std::byte>(bytes));
    };
    try {
      send(UINT64_MAX, name);
    } catch (const call_error&) {  // it is too long
      send(0, name.substr(0, 1024));
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

/// False: the limit was reached first.
template <class Result>
[[nodiscard]] bool answered_within(const wait_limit& limit, offload::future<Result>& asked) {
  constexpr std::int64_t look_ns = 10'000'000;  // nobody wakes who waits here when a token is stopped
  while (!asked.wait_for(std::chrono::nanoseconds(std::min(limit.late_ns() - base::now_ns(), look_ns)))) {
    if (limit.reached()) return false;
  }
  return true;
}

/// The answers of nodes to calls that were sent at once, each handed to `take`; those that come after the limit to
/// `take_late`, without an error. `failed`: what sending them threw. All are read: else the user would be told of calls
/// of the library. The calls have no deadline: what they own could not be given back if another thread let it pass.
template <class Result, class Take, class Late>
[[nodiscard]] std::exception_ptr await_all(std::vector<offload::future<Result>>& asked, const wait_limit& limit,
                                           std::exception_ptr failed, Take take, Late take_late) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    try {
      if (answered_within(limit, asked[i])) {
        take(i, asked[i]);
        continue;
      }
      if (failed == nullptr && !limit.late())
        failed = std::make_exception_ptr(
            operation_cancelled("a node had not taken its part of a graph when it was stopped", call_outcome::not_run));
      else if (failed == nullptr)
        failed = std::make_exception_ptr(
            deadline_exceeded("a node did not take its part of a graph before the deadline", call_outcome::not_run));
      std::move(asked[i]).on_result([i, take_late](offload::future<Result> late) {
        if (late.error() == nullptr) take_late(i, late);
      });
    } catch (...) {
      if (failed == nullptr) failed = std::current_exception();
    }
  }
  return failed;
}

}  // namespace

std::vector<std::uint64_t> reserve_parts(engine& at, std::span<const node_t> nodes, const wait_limit& limit) {
  std::vector<offload::future<std::uint64_t>> asked;
  std::exception_ptr failed;
  try {
    for (const node_t node : nodes)
      asked.push_back(offload::async(destination_of(at, {node, 0}), fn<&reserve_graph_part>));
  } catch (...) {
    failed = std::current_exception();
  }
  std::vector<std::uint64_t> made(nodes.size());
  failed = await_all(
      asked, limit, failed, [&](std::size_t i, offload::future<std::uint64_t>& one) { made[i] = one.get(); },
      [&at, of = std::vector<node_t>(nodes.begin(), nodes.end())](std::size_t i, offload::future<std::uint64_t>& late) {
        send_release(at, {of[i], late.get()});
      });
  if (failed == nullptr) return made;
  for (std::size_t i = 0; i < asked.size(); ++i) {  // nothing is left where it was possible
    if (made[i] != 0) send_release(at, {nodes[i], made[i]});
  }
  std::rethrow_exception(failed);
}

/// What comes too late is released by who releases all parts: that arrives behind it.
void install_parts(engine& at, std::span<const part_plan> plans, const wait_limit& limit) {
  std::vector<offload::future<void>> asked;
  std::exception_ptr failed;
  try {
    for (const part_plan& one : plans)
      asked.push_back(offload::async(destination_of(at, one.parts[one.own]), fn<&install_graph_part>, at.self(), one));
  } catch (...) {
    failed = std::current_exception();
  }
  failed = await_all(
      asked, limit, failed, [](std::size_t, offload::future<void>& one) { one.get(); },
      [](std::size_t, const offload::future<void>&) {});
  if (failed != nullptr) std::rethrow_exception(failed);
}

}  // namespace ham::detail
