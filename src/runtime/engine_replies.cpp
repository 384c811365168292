// Replies to calls. They never wait for room: the receiver of calls must go on receiving.
#include <cstdio>
#include <cstring>

#include "core/batch_reply.hpp"
#include "core/remote_exception.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

void engine::finish_reply(frame_header head, reply_room& out) noexcept {
  peer& to = *out.to;
  if (out.queued == nullptr) [[likely]] {
    to.commit(head);
    return;
  }
  if (!to.finish_queued_reply(head, out))
    waiter_.wake_if_asleep();  // this thread goes its way now; who sleeps must look after the rest
}

/// Who waits for an answer for which there is no memory would wait for ever: the connection is given up instead.
void engine::reply_with(peer& to, frame_header head, std::span<const std::byte> bytes) noexcept {
  reply_room out;
  try {
    to.begin_reply(bytes.size(), out);
  } catch (const std::bad_alloc&) {
    if (to.node == self_)
      leave_unanswered(head, bytes);
    else if (to.state.load() != peer_state::lost)
      events_.report_end(to.node, peer_end::connection_broken, "no memory left");  // fits the string
    return;
  }
  if (!bytes.empty()) std::memcpy(out.data, bytes.data(), bytes.size());
  finish_reply(head, out);
}

// ---- what the handlers of calls use

void begin_reply(incoming_call& call, std::size_t size, reply_room& out) {
  peer& to = *call.from;
  const std::size_t whole = size + (call.batch != nullptr ? batch_reply::head_bytes : 0);
  if (whole > to.max_message) [[unlikely]]
    to.check_size(whole, "the result of " + msg::handler_table::local().pretty_name(call.function->key()));
  if (call.batch != nullptr)
    call.batch->begin(call.call, size, out);
  else
    to.begin_reply(size, out);
  if (out.queued != nullptr) [[unlikely]]
    call.at->used_long_memory();
}

void reply_nothing(incoming_call& call) {
  reply_room out;
  if (call.batch != nullptr) {
    call.batch->begin(call.call, 0, out);
    call.batch->finish();
  } else {
    call.from->begin_reply(0, out);
    call.at->finish_reply(frame_header::reply(call.call), out);
  }
}

void finish_reply(incoming_call& call, reply_room& reply) noexcept {
  if (call.batch != nullptr)
    call.batch->finish();
  else
    call.at->finish_reply(frame_header::reply(call.call), reply);
}

void unshare_call(incoming_call& call) noexcept { call.at->calls_in().end_elsewhere(call); }

void share_call(incoming_call& call) { call.at->calls_in().begin_elsewhere(call); }

void reply_exception(incoming_call& call) noexcept {
  std::vector<std::byte> bytes = encode_current_exception();
  if (bytes.size() + batch_reply::head_bytes > call.from->max_message) [[unlikely]]
    bytes = encode_call_error("the function has thrown an exception that is too long to be sent");
  if (!wants_reply(call)) {
    const std::string text = describe_exception(bytes);
    std::fprintf(stderr, "ham: node %d: %s, called by ping, threw %s\n", call.at->self(),
                 msg::handler_table::local().pretty_name(call.function->key()).c_str(), text.c_str());
    return;
  }
  if (call.batch != nullptr)
    call.batch->fail(call.call, bytes);
  else
    call.at->reply_with(*call.from, frame_header::reply_error(call.call), bytes);
}

void reject_call(incoming_call& call, const char* why) noexcept {
  try {
    call.at->fail_peer(*call.from, "arguments of " + msg::handler_table::local().pretty_name(call.function->key()) +
                                       " that cannot be read: " + why);
  } catch (const std::bad_alloc&) {
    call.at->fail_peer(*call.from, "arguments that cannot be read");
  }
  if (call.batch != nullptr) call.batch->fail(call.call, {});
}

}  // namespace ham::detail
