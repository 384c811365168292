// What arrives: calls, batches, replies, greetings. Everything in a frame is checked before it is used.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <limits>

#include "base/huge_pages.hpp"
#include "core/batch_records.hpp"
#include "core/batch_reply.hpp"
#include "core/remote_exception.hpp"
#include "ham/msg/codec.hpp"
#include "runtime/engine.hpp"
#include "runtime/node_info.hpp"

namespace ham::detail {
namespace {

constexpr std::size_t small_payload = transport::readable_payload;

}  // namespace

/// While a call runs the receiving lock is free: the endpoint may be lost and destroyed. Nothing of it is touched
/// behind a call, and nothing throws there.
void engine::receive(transport::endpoint& from, const transport::frame& frame) {
  if (from.user == nullptr) [[unlikely]]
    handle_events();
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
        settle_reply(*who, head.id(), head.failed(), frame.payload);
        from.release();
        return;
      }
      case to_byte(wire_kind::call):
      case to_byte(wire_kind::call) | in_context:
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
          if (dispatcher_.begins_at_once(*who, head)) [[likely]]
            dispatcher_.run_at_once(*who, head, payload);
          else
            receive_message(*who, head, payload);
          return;
        }
        notice_long(from, frame.payload.size());
        std::vector<std::byte> copy;
        if (!spare_buffers_.empty()) {
          copy = std::move(spare_buffers_.back());
          spare_buffers_.pop_back();
        }
        if (frame.payload.size() > copy.capacity()) {
          copy.clear();
          copy.reserve(frame.payload.size());
          base::prefer_huge_pages(copy.data(), frame.payload.size());
        }
        copy.assign(frame.payload.begin(), frame.payload.end());
        from.release();
        receive_message(*who, head, copy);
        if (copy.capacity() > long_message) used_long_memory();  // once more: the call may have taken long
        if (spare_buffers_.size() < spare_buffers_.capacity()) spare_buffers_.push_back(std::move(copy));
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
    fail_peer(*who, problem.what());
  } catch (...) {
    from.release();
    fail_peer(*who, "something that a codec refused");
  }
}

/// Of a frame, which is long only where the medium has memory for long messages. Throws ham::protocol_error.
void engine::notice_long(const transport::endpoint& from, std::size_t size) {
  if (size <= long_message) [[likely]]
    return;
  if (size > message_limit_ && size > from.max_payload()) transport::throw_too_long(size, message_limit_);
  used_long_memory();
}

void engine::receive_message(peer& from, frame_header head, std::span<const std::byte> payload) {
  switch (head.kind()) {
    case wire_kind::call:
    case wire_kind::batch: dispatcher_.take(from, head, payload); return;
    case wire_kind::reply:
    case wire_kind::reply_error: settle_reply(from, head.id(), head.failed(), payload); return;
    case wire_kind::batch_reply: receive_batch_reply(from, payload); return;
    case wire_kind::hello: receive_hello(from, payload); return;
    case wire_kind::manifest: receive_manifest(from, payload); return;
    case wire_kind::notice:
      if (!from.hello_seen || job_ == nullptr) throw protocol_error("a notice that was not to be expected");
      job_->on_notice(from.node, payload);
      return;
    case wire_kind::flow: ping_flow::receive(from, payload); return;
    case wire_kind::goodbye:
      if (from.node == 0) stop_.store(true, std::memory_order_release);
      if (payload.empty()) {
        lost(from, "its runtime has ended", peer_end::connection_lost);
      } else {
        lost(from,
             "it closed the connection because it was sent " +
                 std::string(reinterpret_cast<const char*>(payload.data()), payload.size()),
             peer_end::connection_lost);
      }
      return;
    case wire_kind::fragment: throw protocol_error("a fragment of a fragment");
  }
}

/// Its sender has gone on. draining or closing its context fails, and this node says so once.
void engine::lose_ping(frame_header head, std::span<const std::byte> payload,
                       std::span<const std::byte> error) noexcept {
  if (head.in_context()) contexts_.count_lost(word_at(payload, 0));
  if (leaving_.load() || told_of_lost_pings_.exchange(true)) return;
  const std::string why = describe_exception(error);
  std::fprintf(stderr, "ham: node %d: %s, called by ping, was not run: %s (said once)\n", self_,
               table_->pretty_name(head.key()).c_str(), why.c_str());
}

/// This node ends: calls that wait in its contexts will not run, and their callers are told. True if there were calls
/// of its own.
bool engine::refuse_queued() {
  const std::vector<stored_message> queued = contexts_.close_all();
  const auto error = encode_not_run("node " + std::to_string(self_) + " failed: its runtime has ended");
  bool own = false;
  for (const stored_message& one : queued) {
    one.from->users.fetch_sub(1, std::memory_order_relaxed);  // whose records stay until this engine goes
    if (one.from->state.load() == peer_state::lost) continue;
    dispatcher_.refuse(*one.from, one.head, one.bytes, error);
    own = own || one.from->node == self_;
  }
  return own;
}

void engine::settle_reply(peer& from, std::uint32_t call, bool failed, std::span<const std::byte> payload) {
  call_slot* const slot = calls_.take_reply(call, from.node);
  if (slot == nullptr) [[unlikely]]
    return;
  if (failed) [[unlikely]] {
    const std::string function = table_->pretty_name(slot->function->key());
    std::exception_ptr thrown;
    try {
      thrown = decode_exception(payload, function, from.about.description());
    } catch (const std::exception& problem) {
      calls_.fail(*slot, loss_of(from, slot->function, call, call_outcome::ran));
      throw protocol_error(std::string("an exception that cannot be read: ") + problem.what());
    }
    calls_.fail(*slot, std::move(thrown));
    return;
  }
  try {
    msg::reader reply(payload);
    slot->decode(*slot, reply);
  } catch (const std::exception& problem) {
    calls_.fail(*slot, loss_of(from, slot->function, call, call_outcome::ran));
    throw protocol_error(std::string("a result that cannot be read: ") + problem.what());
  } catch (...) {  // of a user's codec
    calls_.fail(*slot, std::current_exception());
    return;
  }
  calls_.settle(*slot, slot_state::value);
}

void engine::receive_batch_reply(peer& from, std::span<const std::byte> payload) {
  if (payload.empty()) throw protocol_error("a reply to a batch without a result");
  while (!payload.empty()) {
    if (!batch_result::complete(payload)) throw protocol_error("a reply to a batch is cut off");
    const batch_result next(payload);
    settle_reply(from, next.call, next.failed, next.bytes);
    payload = payload.subspan(next.size());
  }
}

}  // namespace ham::detail
