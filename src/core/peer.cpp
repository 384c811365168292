// What a node does with one other node only: translation of keys, replies, what waits for room on the way to it.
#include "core/peer.hpp"

#include "core/outbox_message.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v0::detail {

namespace {

call_error_reason reason_of(std::uint32_t unusable_key) noexcept {
  switch (unusable_key) {
    case msg::translation::differs: return call_error_reason::other_layout;
    case msg::translation::ambiguous: return call_error_reason::ambiguous_name;
    default: return call_error_reason::unknown_function;
  }
}

}  // namespace

std::uint32_t peer::translate_key(msg::handler_entry& function, std::uint32_t known, node_t self) const {
  const std::uint32_t key = function.resolve();
  const msg::handler_table& functions = msg::handler_table::local();
  if (key >= known) {
    throw call_error(functions.pretty_name(key) +
                         " is unknown to the other nodes (its library was loaded after the runtime started); load it "
                         "before the start, in all nodes",
                     call_error_reason::unknown_function);
  }
  if (function.duplicate()) [[unlikely]] {
    throw call_error("several functions of this program have the name " + functions.pretty_name(key) +
                         " (internal linkage in more than one file); rename them or use named<\"...\">",
                     call_error_reason::ambiguous_name);
  }
  if (translation == nullptr) return key;
  const std::uint32_t theirs = (*translation)[key];
  if (theirs >= msg::translation::differs) [[unlikely]]
    throw call_error(translation->explain(key, "node " + std::to_string(self), "node " + std::to_string(node)),
                     reason_of(theirs));
  return theirs;
}

void peer::check_size(std::size_t size, const std::string& what) const {
  if (size <= max_payload || size <= max_message) return;
  throw call_error(what + " takes " + std::to_string(size) + " bytes, more than node " + std::to_string(node) +
                       " accepts in one message (" + std::to_string(max_message) +
                       "); raise HAM_MAX_MESSAGE there, send less at once, or move bulk data with put and get",
                   call_error_reason::too_long);
}

// ---- replies

void peer::begin_reply(std::size_t size, reply_room& out) {
  sending.lock();
  bytes_sent.count(size);
  if (unsent.empty() && size <= max_payload) [[likely]] {
    out.data = to->reserve(size);
    if (out.data != nullptr) [[likely]] {
      out.to = this;
      return;
    }
  }
  begin_queued_reply(size, out);
}

/// The lock is held, but not while memory is allocated.
[[gnu::noinline]] void peer::begin_queued_reply(std::size_t size, reply_room& out) {
  const bool is_long = size > max_payload;
  sending.unlock();
  auto message = is_long ? std::make_unique<outbox_message>() : std::make_unique<outbox_message>(size);
  sending.lock();
  if (is_long && message->room_for(*to, size) == nullptr) {
    sending.unlock();
    message->allocate(size);
    sending.lock();
  }
  out.to = this;
  out.data = message->data();
  out.queued = message.release();
}

bool peer::finish_queued_reply(frame_header head, reply_room& out) noexcept {
  const std::unique_ptr<outbox_message> message(std::exchange(out.queued, nullptr));
  bool gone = true;
  if (state.load() != peer_state::lost) {
    unsent.add(head, *message);
    gone = unsent.flush(*to);
  }
  message->cancel();
  sending.unlock();
  return gone;
}

// ---- the outbox

void peer::flush_if_free() noexcept {
  if (!sending.try_lock()) return;
  if (!unsent.empty()) unsent.flush(*to);  // who was never connected has no endpoint
  sending.unlock();
}

bool peer::trim_if_free() noexcept {
  if (!sending.try_lock()) return false;
  transport::endpoint* const now = to;
  transport::message_memory* const memory = now == nullptr ? nullptr : now->long_messages();
  const bool empty = memory == nullptr || memory->trim_long();
  sending.unlock();
  return empty;
}

bool peer::withdraw_call(std::uint32_t id) noexcept {
  sending.lock();
  const bool withdrawn = discount(unsent.withdraw_call(id));
  sending.unlock();
  return withdrawn;
}

message_list peer::disconnect() noexcept {
  transport::endpoint* const gone = to;
  sending.lock();  // nobody is in the middle of a message to it any more
  message_list left = unsent.take();
  gone->close(about.loss());
  to = &no_endpoint::instance();
  sending.unlock();
  gone->user = nullptr;  // nothing of it is looked at
  return left;
}

}  // namespace ham::detail
