// Replies to calls, as the handlers of calls ask for them.
#include <algorithm>
#include <cstdint>

#include "base/tracer.hpp"
#include "core/batch_reply.hpp"
#include "core/remote_exception.hpp"
#include "core/unobserved.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

namespace {

void trace_begin_of_reply(std::size_t bytes) noexcept {
  if (base::tracing()) [[unlikely]]
    base::this_tracer.begin_reply(bytes);
}
/// Before its receiver may see it.
void trace_end_of_reply() noexcept {
  if (base::tracing()) [[unlikely]]
    base::this_tracer.end_reply();
}

}  // namespace

namespace {

[[gnu::noinline]] void begin_reply_to_peer(incoming_call& call, std::size_t size, reply_room& out) {
  trace_begin_of_reply(size);
  peer& to = *call.from;
  const std::size_t whole = size + (call.batch != nullptr ? batch_reply::head_bytes : 0);
  if (whole > to.max_message) [[unlikely]]
    to.check_size(whole, "the result of " + msg::handler_table::local().pretty_name(call.function->key()));
  if (call.batch != nullptr)
    call.batch->begin(call.call, size, out);
  else
    to.begin_reply(size, out);
  if (out.queued != nullptr) [[unlikely]]
    call.at->long_messages.start();
}

}  // namespace

void begin_reply(incoming_call& call, std::size_t size, reply_room& out) {
  if (call.sink != nullptr)
    out.data = call.sink->begin(size);
  else
    begin_reply_to_peer(call, size, out);
}

void reply_nothing(incoming_call& call) {
  if (call.sink != nullptr) [[unlikely]] {
    static_cast<void>(call.sink->begin(0));
    call.sink->finish();
    return;
  }
  reply_room out;
  if (call.batch != nullptr) {
    call.batch->begin(call.call, 0, out);
    trace_end_of_reply();
    call.batch->finish();
  } else {
    call.from->begin_reply(0, out);
    trace_end_of_reply();
    call.at->replies.finish(frame_header::reply(call.call), out);
  }
}

void finish_reply(incoming_call& call, reply_room& reply) noexcept {
  trace_end_of_reply();
  if (call.sink != nullptr) [[unlikely]]
    call.sink->finish();
  else if (call.batch != nullptr)
    call.batch->finish();
  else
    call.at->replies.finish(frame_header::reply(call.call), reply);
}

void unshare_call(incoming_call& call) noexcept { call.at->calls_in.end_elsewhere(call); }

void share_call(incoming_call& call) { call.at->calls_in.begin_elsewhere(call); }

namespace {

/// The exception that is being handled. Nobody waits for an answer: it is told here.
void report_ping(const incoming_call& call) noexcept {
  try {
    const node_t self = call.at->self();
    report_unread({std::current_exception(), operation::ping, self, self,
                   msg::handler_table::local().pretty_name(call.function->key())});
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace

void reply_exception(incoming_call& call) noexcept {
  if (!wants_reply(call)) {
    report_ping(call);
    return;
  }
  trace_begin_of_reply(SIZE_MAX);
  const std::uint64_t max_bytes = std::min<std::uint64_t>(call.from->max_message, batch_reply::largest_result);
  const std::vector<std::byte> bytes =
      encode_current_exception(max_bytes - std::min<std::uint64_t>(max_bytes, batch_reply::head_bytes));
  trace_end_of_reply();
  if (call.batch != nullptr)
    call.batch->fail(call.call, bytes);
  else
    call.at->replies.reply_with(*call.from, frame_header::reply_error(call.call), bytes);
}

void reject_call(incoming_call& call, const char* why) noexcept {
  try {
    call.at->all_connections.fail(*call.from, "arguments of " +
                                                  msg::handler_table::local().pretty_name(call.function->key()) +
                                                  " that cannot be read: " + why);
  } catch (const std::bad_alloc&) {
    call.at->all_connections.fail(*call.from, "arguments that cannot be read");
  }
  if (call.batch != nullptr) call.batch->fail(call.call, {});
}

}  // namespace ham::detail
