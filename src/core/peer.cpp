// What a node does with one other node only: translation of keys, replies, what waits for room on the way to it.
#include "core/peer.hpp"

#include "base/clock.hpp"
#include "core/outbox_message.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::detail {

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
  if (function.duplicate()) [[unlikely]] {
    throw call_error("several functions of this program have the name " + functions.pretty_name(key) +
                         " (internal linkage in more than one file); rename them or use named<\"...\">",
                     call_error_reason::ambiguous_name);
  }
  if (node == self) return key;
  const bool knew = key < known;
  if (knew && translation == nullptr) return key;
  if (later != nullptr && (!knew || (*translation)[key] == msg::translation::missing)) {
    const std::uint32_t since = (*later)[key];
    if (msg::translation::usable(since)) return since;
    if (!knew) {
      throw call_error(later->explain(key, "node " + std::to_string(self), "node " + std::to_string(node)) +
                           "; offload::load_library loads libraries there",
                       reason_of(since));
    }
  }
  if (!knew) {
    throw call_error(functions.pretty_name(key) + " is unknown to node " + std::to_string(node) +
                         " (its library was loaded here after the runtime started); load it there as well "
                         "(offload::load_library), or before the start, in all nodes",
                     call_error_reason::unknown_function);
  }
  const std::uint32_t theirs = (*translation)[key];
  if (!msg::translation::usable(theirs)) [[unlikely]]
    throw call_error(translation->explain(key, "node " + std::to_string(self), "node " + std::to_string(node)),
                     reason_of(theirs));
  return theirs;
}

bool peer::must_be_asked_for(msg::handler_entry& function, std::uint32_t known) const {
  constexpr std::int64_t often_ns = 1'000'000'000;
  const std::uint32_t key = function.resolve();
  const bool may_have_it_now =
      key >= known || (translation != nullptr && (*translation)[key] == msg::translation::missing);
  if (!may_have_it_now || function.duplicate()) return false;
  if (later != nullptr && msg::translation::usable((*later)[key])) return false;
  return asked_with != msg::handler_table::local().size() || base::now_ns() - asked_at_ns > often_ns;
}

void peer::take_answer(std::uint64_t question, std::size_t keys, std::unique_ptr<msg::translation>& learned) noexcept {
  if (question <= answered) return;
  answered = question;
  if (learned != nullptr) later.swap(learned);
  asked_with = keys;
  asked_at_ns = base::now_ns();
}

std::unique_ptr<msg::translation> peer::forget_functions() noexcept {
  answered = questions;
  asked_with = 0;
  return std::exchange(later, nullptr);
}

void peer::check_size(std::size_t size, const std::string& what) const {
  if (size <= max_payload || size <= max_message) return;
  throw call_error(what + " takes " + std::to_string(size) + " bytes, more than node " + std::to_string(node) +
                       " accepts in one message (" + std::to_string(max_message) +
                       "); raise HAM_MAX_MESSAGE there, send less at once, or move bulk data with put and get",
                   call_error_reason::too_long);
}

// ---- replies

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

bool peer::flush_if_free() noexcept {
  if (!sending.try_lock()) return false;
  const bool gone = unsent_has_left();  // who was never connected has no endpoint
  sending.unlock();
  return gone;
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

void peer::show_met() noexcept {
  try {
    const peer_identity::info known = about.description();
    row->pid.store(known.pid, std::memory_order_relaxed);
    row->machine = {};
    row->transport = {};
    known.name.copy(row->machine.data(), row->machine.size() - 1);
    known.transport.copy(row->transport.data(), row->transport.size() - 1);
  } catch (const std::bad_alloc&) {  // it stays without a name
  }
  row->now.store(static_cast<std::uint32_t>(base::counter_row::state::met), std::memory_order_release);
}

void peer::show_restart(node_t number, std::uint64_t restarts) noexcept {
  row->number.store(number, std::memory_order_relaxed);
  row->restarts.store(static_cast<std::uint32_t>(restarts), std::memory_order_relaxed);
}

void peer::end_shared_reading() noexcept {
  if (to == nullptr || to->shared() == nullptr) return;
  place.reading.lock();
  to->share_reading(nullptr);
  place.reading.unlock();
}

message_list peer::disconnect() noexcept {
  row->now.store(static_cast<std::uint32_t>(base::counter_row::state::lost), std::memory_order_release);
  transport::endpoint* const gone = to;
  place.reading.lock();  // nobody follows the pointer
  sending.lock();        // nobody is in the middle of a message to it any more
  message_list left = unsent.take();
  gone->close(about.loss());
  to = &no_endpoint::instance();
  sending.unlock();
  place.reading.unlock();
  gone->user = nullptr;  // nothing of it is looked at
  return left;
}

}  // namespace ham::detail
