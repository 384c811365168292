// Bytes of a peer are copied out of the memory that it can write before anything in them is believed.
#include "core/message_receiver.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/huge_pages.hpp"
#include "base/tracer.hpp"
#include "core/batch_records.hpp"
#include "core/remote_exception.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::size_t small_payload = transport::readable_payload;
constexpr std::size_t medium_payload = 256;  // has room on the stack

/// An answer, or a frame for another node.
bool outlives_sender(wire_kind kind) noexcept {
  return kind == wire_kind::reply || kind == wire_kind::reply_error || kind == wire_kind::batch_reply ||
         kind == wire_kind::relay || kind == wire_kind::notice || kind == wire_kind::replayed;
}

}  // namespace

bool message_receiver::outlives_sender(const transport::frame& frame) {
  const auto does = [](const transport::frame_head& head) {
    return frame_header::known(head) && detail::outlives_sender(frame_header::decode(head).kind());
  };
  transport::fragment_head first{};
  if (frame.head.kind != to_byte(wire_kind::fragment) || frame.payload.size() < sizeof first) return does(frame.head);
  std::memcpy(&first, frame.payload.data(), sizeof first);
  return does({0, 0, static_cast<std::uint8_t>(little_endian(first).kind)});
}

std::vector<std::byte> message_receiver::copy_of(std::span<const std::byte> payload) {
  std::vector<std::byte> copy;
  if (!spare_buffers_.empty()) {
    copy = std::move(spare_buffers_.back());
    spare_buffers_.pop_back();
  }
  if (payload.size() > copy.capacity()) {
    copy.clear();
    copy.reserve(payload.size());
    base::prefer_huge_pages(copy.data(), payload.size());
  }
  copy.assign(payload.begin(), payload.end());
  return copy;
}

void message_receiver::keep(std::vector<std::byte> buffer) noexcept {
  if (buffer.capacity() > long_message) node_.used_long_memory();  // once more: the call may have taken long
  if (spare_buffers_.size() < max_spare) spare_buffers_.push_back(std::move(buffer));
}

void message_receiver::free_long_buffers() noexcept {
  std::erase_if(spare_buffers_, [](const std::vector<std::byte>& one) { return one.capacity() > long_message; });
}

/// While a call runs the receiving lock is free: the endpoint may be lost and destroyed. Nothing of it is touched
/// behind a call, and nothing throws there.
/// A call or a batch.
inline void message_receiver::receive_call(peer& from, frame_header head, std::span<const std::byte> payload) {
  if (of_.calls.begins_at_once(from, head)) [[likely]]
    of_.calls.run_at_once(from, head, payload);
  else
    receive_message(from, head, payload);
}

void message_receiver::receive(transport::endpoint& from, const transport::frame& frame) {
  if (from.user == nullptr) [[unlikely]]
    node_.handle_events();
  peer* const who = static_cast<peer*>(from.user);
  if (who == nullptr || who->failed.load(std::memory_order_relaxed) ||
      who->state.load(std::memory_order_relaxed) == peer_state::lost) [[unlikely]] {
    from.release();
    return;
  }
  from.expect_send();  // the reply, or the next call
  who->bytes_received.count(frame.payload.size());
  try {
    switch (frame.head.kind) {
      case to_byte(wire_kind::reply):
      case to_byte(wire_kind::reply_error): {
        const frame_header head = frame_header::decode(frame.head);
        if (frame.payload.size() > small_payload) notice_long(from, frame.payload.size());
        settle_reply(*who, head.id(), head.kind() == wire_kind::reply_error, frame.payload);
        from.release();
        return;
      }
      case to_byte(wire_kind::replayed):
        notice_long(from, frame.payload.size());
        node_.receive_replayed(*who, frame_header::decode(frame.head), frame.payload);
        from.release();
        return;
      case to_byte(wire_kind::call):
      case to_byte(wire_kind::call) | in_context:
      case to_byte(wire_kind::call) | stoppable:
      case to_byte(wire_kind::call) | stoppable | in_context:
      case to_byte(wire_kind::batch):
      case to_byte(wire_kind::batch) | in_context: {
        const frame_header head = frame_header::decode(frame.head);
        // The bytes leave the shared memory before they are decoded: the peer cannot change them any more, and the
        // ring continues while the call runs.
        if (frame.payload.size() <= small_payload) [[likely]] {
          alignas(16) std::array<std::byte, small_payload> copy;
          const std::span<const std::byte> payload(copy.data(), frame.payload.size());
          std::memcpy(copy.data(), frame.payload.data(), small_payload);
          from.release();
          receive_call(*who, head, payload);
          return;
        }
        if (frame.payload.size() <= medium_payload) {
          alignas(16) std::array<std::byte, medium_payload> copy;
          std::memcpy(copy.data(), frame.payload.data(), frame.payload.size());
          from.release();
          receive_call(*who, head, {copy.data(), frame.payload.size()});
          return;
        }
        notice_long(from, frame.payload.size());
        std::vector<std::byte> copy = copy_of(frame.payload);
        from.release();
        receive_call(*who, head, copy);
        keep(std::move(copy));
        return;
      }
      case to_byte(wire_kind::fragment): {
        auto message = who->fragments.add(frame);
        from.release();
        if (!message) return;
        receive_message(*who, frame_header::decode(message->head), message->bytes);
        return;
      }
      default: {
        const frame_header head = frame_header::decode(frame.head);
        notice_long(from, frame.payload.size());
        const std::vector<std::byte> copy(frame.payload.begin(), frame.payload.end());
        from.release();
        receive_message(*who, head, copy);
        return;
      }
    }
  } catch (const std::exception& problem) {
    from.release();  // harmless if it was released
    node_.fail_peer(*who, problem.what());
  } catch (...) {
    from.release();
    node_.fail_peer(*who, "something that a codec refused");
  }
}

void message_receiver::receive_reply(transport::endpoint& from, peer& who, const transport::frame& frame) {
  from.expect_send();
  who.bytes_received.count(frame.payload.size());
  try {
    settle_reply(who, frame_header::decode(frame.head).id(), false, frame.payload);
  } catch (...) {
    from.release();
    throw;
  }
  from.release();
}

/// Of a frame, which is long only where the medium has memory for long messages. Throws ham::protocol_error.
void message_receiver::notice_long(const transport::endpoint& from, std::size_t size) {
  if (size <= long_message) [[likely]]
    return;
  const std::size_t limit = of_.greetings.message_limit();
  if (size > limit && size > from.max_payload()) transport::throw_too_long(size, limit);
  node_.used_long_memory();
}

/// Its frame has been released.
void message_receiver::receive_message(peer& from, frame_header head, std::span<const std::byte> payload) {
  switch (head.kind()) {
    case wire_kind::call:
    case wire_kind::batch: of_.calls.take(from, head, payload); return;
    case wire_kind::reply:
    case wire_kind::reply_error: {
      const settling_alone alone(from);
      settle_reply(from, head.id(), head.kind() == wire_kind::reply_error, payload);
      return;
    }
    case wire_kind::batch_reply: {
      const settling_alone alone(from);
      receive_batch_reply(from, payload);
      return;
    }
    case wire_kind::hello:
      of_.greetings.receive_greeting(from, payload);
      if (from.state.load() == peer_state::ready) node_.welcome(from);
      return;
    case wire_kind::manifest:
      of_.greetings.receive_manifest(from, payload);
      node_.welcome(from);
      return;
    case wire_kind::notice: node_.receive_notice(from, payload); return;
    case wire_kind::flow: ping_flow::receive(from, payload); return;
    case wire_kind::cancel:
      if (!payload.empty()) throw protocol_error("a stop of a call with more than its number");
      of_.calls.cancel(from, head.id());
      return;
    case wire_kind::relay: node_.receive_relayed(from, head, payload); return;
    case wire_kind::replayed: node_.receive_replayed(from, head, payload); return;
    case wire_kind::goodbye: node_.receive_goodbye(from, payload); return;
    case wire_kind::fragment: throw protocol_error("a fragment of a fragment");
  }
}

/// Throws ham::protocol_error.
std::exception_ptr message_receiver::exception_in(peer& from, const msg::handler_entry& function,
                                                  std::span<const std::byte> payload) const {
  try {
    return decode_exception(payload, of_.functions.pretty_name(function.key()), from.about.description());
  } catch (const std::exception& problem) {
    throw protocol_error(std::string("an exception that cannot be read: ") + problem.what());
  }
}

/// `slot` has been taken: it is this thread's to settle.
void message_receiver::trace_settled(const peer& from, const call_slot& slot, std::uint32_t call) const noexcept {
  if (base::tracing()) [[unlikely]]
    base::this_tracer.add_settled(of_.self, from.node,
                                  slot.function == nullptr ? msg::invalid_key : slot.function->key(), call);
}

void message_receiver::settle_error(peer& from, std::uint32_t call, std::span<const std::byte> payload) {
  if (const msg::handler_entry* const function = of_.pending.abandoned(call, from.node))
    of_.pending.report_unobserved(from.node, *function, exception_in(from, *function, payload));
  call_slot* const slot = of_.pending.take_reply(call, from.node);
  if (slot == nullptr) {
    if (of_.faults != nullptr && of_.faults->for_calls()) suffer_fault(from, call, true, payload);
    return;
  }
  trace_settled(from, *slot, call);
  std::exception_ptr thrown;
  try {
    thrown = exception_in(from, *slot->function, payload);
  } catch (...) {
    of_.pending.fail(*slot, node_.loss_of(from, slot->function, call, call_outcome::ran));
    throw;
  }
  of_.pending.fail(*slot, std::move(thrown));
}

void message_receiver::settle_reply(peer& from, std::uint32_t call, bool failed, std::span<const std::byte> payload) {
  if (failed) [[unlikely]] {
    settle_error(from, call, payload);
    return;
  }
  call_slot* const slot = of_.pending.take_reply(call, from.node);
  if (slot == nullptr) [[unlikely]] {
    if (of_.faults != nullptr && of_.faults->for_calls()) suffer_fault(from, call, false, payload);
    return;
  }
  trace_settled(from, *slot, call);
  try {
    msg::reader reply(payload);
    slot->decode(*slot, reply);
  } catch (const std::exception& problem) {
    of_.pending.fail(*slot, node_.loss_of(from, slot->function, call, call_outcome::ran));
    throw protocol_error(std::string("a result that cannot be read: ") + problem.what());
  } catch (...) {  // of a user's codec
    of_.pending.fail(*slot, std::current_exception());
    return;
  }
  of_.pending.settle(*slot, slot_state::value);
}

void message_receiver::suffer_fault(peer& from, std::uint32_t call, bool failed, std::span<const std::byte> payload) {
  call_slot* const slot = of_.pending.find_faulty(call);
  if (slot == nullptr) return;
  const base::fault_rule& rule = of_.faults->rule(slot->fault);
  slot->fault = 0;
  switch (rule.action) {
    case base::fault_action::fail:
      slot->reply_due.store(false, std::memory_order_relaxed);
      of_.pending.fail(*slot, of_.faults->failure(from, *slot->function, call, call_outcome::may_have_run, rule));
      return;
    case base::fault_action::delay: {
      const std::int64_t due_ns = base::now_ns() + rule.delay_ns;
      of_.faults->hold({from.node, call, failed, due_ns, {payload.begin(), payload.end()}});
      of_.pending.add_deadline(call, due_ns);
      return;
    }
    case base::fault_action::drop:
    case base::fault_action::kill: node_.break_peer(from, rule);  // which settles the call as well
  }
}

void message_receiver::receive_held(peer& from, const held_reply& reply) noexcept {
  if (!of_.pending.awaits(reply.call, from.node)) return;  // settled when its node was lost
  try {
    settle_reply(from, reply.call, reply.failed, reply.bytes);
  } catch (const std::exception& problem) {
    node_.fail_peer(from, problem.what());
  }
}

void message_receiver::receive_batch_reply(peer& from, std::span<const std::byte> payload) {
  if (payload.empty()) throw protocol_error("a reply to a batch without a result");
  while (!payload.empty()) {
    if (!batch_result::complete(payload)) throw protocol_error("a reply to a batch is cut off");
    const batch_result next(payload);
    settle_reply(from, next.call, next.failed, next.bytes);
    payload = payload.subspan(next.size());
  }
}

}  // namespace ham::detail
