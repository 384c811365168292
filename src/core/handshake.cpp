#include "core/handshake.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/log.hpp"
#include "core/greeting.hpp"
#include "ham/msg/translation.hpp"

namespace ham::inline v1::detail {

/// One for each table that runtimes of this process have begun with. What is loaded later does not change it.
const msg::manifest& handshake::own_manifest() const {
  struct known {
    const msg::handler_table* of;  // tables live as long as the process, and so does this
    msg::manifest what;
    known* next;
  };
  static constinit std::atomic<known*> all{nullptr};  // no lock, which a forked child might find taken
  for (const known* one = all.load(std::memory_order_acquire); one != nullptr; one = one->next)
    if (one->of == &functions_) return one->what;
  auto* const made = new known{&functions_, msg::manifest::of(functions_), all.load(std::memory_order_relaxed)};
  while (!all.compare_exchange_weak(made->next, made, std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  return made->what;
}

void handshake::greet(peer& to) {
  const greeting mine{own_manifest().id(), own_.about.description(), address_, message_limit_};
  replies_.reply_with(to, frame_header::of(wire_kind::hello), mine.encode());
}

void handshake::receive_greeting(peer& from, std::span<const std::byte> payload) {
  if (from.hello_seen) throw protocol_error("a second greeting");
  greeting theirs = greeting::decode(payload);
  theirs.node.transport = from.to->medium;
  theirs.node.node = from.node;
  from.hello_seen = true;
  from.max_message = theirs.max_message;
  from.about.introduce(std::move(theirs.node), std::move(theirs.address));
  if (theirs.manifest == own_manifest().id()) {
    become_ready(from);
  } else {
    replies_.reply_with(from, frame_header::of(wire_kind::manifest), own_manifest().serialise());
  }
}

void handshake::receive_manifest(peer& from, std::span<const std::byte> payload) {
  if (!from.hello_seen || from.state.load() != peer_state::greeting) throw protocol_error("a manifest out of turn");
  from.translation = std::make_unique<msg::translation>(own_manifest(), msg::manifest::parse(payload));
  become_ready(from);
}

void handshake::become_ready(peer& who) {
  who.sending.lock();
  if (const auto* const memory = who.to->long_messages())  // which it has mapped before it sent its greeting
    who.max_payload = std::min(who.max_payload, memory->min_size() - 1);
  who.sending.unlock();
  if (base::logs("runtime", base::log_level::info)) {
    const peer_identity::info about = who.about.description();
    base::log("runtime", base::log_level::info, "node %d is connected over %s: %s, pid %lld%s", who.node,
              about.transport.c_str(), about.name.c_str(), static_cast<long long>(about.pid),
              who.translation == nullptr ? "" : ", another build");
  }
  who.state.store(peer_state::ready, std::memory_order_release);
  waiter_.wake_finished();
}

}  // namespace ham::detail
