// Threads that take the replies to their calls alone, beside one that has the receiving lock: production reply_reader,
// peer_table, settling_alone, call_table and recursive_spin_lock. A reply comes at once; the connection is a shadow.
#include "explorer/production.hpp"
// System headers that the sources below include:
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
// The production code, with the shadows:
#include "core/call_table.cpp"
#include "core/outbox.cpp"
#include "core/peer.cpp"
#include "core/reply_reader.cpp"
#include "core/slot_table.cpp"

// Of what is linked only: no scenario comes there.
namespace ham::inline v1 {
std::uint32_t msg::handler_entry::resolve_slowly() { return 0; }
std::atomic<const msg::handler_table*> msg::handler_table::current_{nullptr};
const msg::handler_table& msg::handler_table::build() { std::abort(); }
std::string msg::handler_table::pretty_name(std::uint32_t) const { return {}; }
std::string msg::translation::explain(std::uint32_t, std::string_view, std::string_view) const { return {}; }
void detail::frame_header::throw_unknown(std::uint8_t) { std::abort(); }
detail::peer_identity::info detail::peer_identity::description() const { return {}; }
base::counter_row_of_peer base::own_counters::claim_row(std::int32_t) { return {}; }
}  // namespace ham

namespace {

/// The row of a peer goes with its record.
struct row_and_owner {
  ham::base::counter_row row{};
  ham::detail::peer* owner = nullptr;
};
ham::detail::peer*& owner_of(ham::base::counter_row& row) { return reinterpret_cast<row_and_owner*>(&row)->owner; }

}  // namespace

namespace ham::inline v1::base {
counter_row_of_peer::counter_row_of_peer() : row_(&(new row_and_owner)->row) {}
counter_row_of_peer::counter_row_of_peer(counter_row_of_peer&& other) noexcept : row_(other.row_) {
  other.row_ = nullptr;
}
counter_row_of_peer::~counter_row_of_peer() {
  detail::peer* const owner = row_ == nullptr ? nullptr : owner_of(*row_);
  if (owner != nullptr) model::free_atomic(&owner->state, sizeof owner->state, model::place::current());
}
}  // namespace ham::base

namespace {

using namespace ham::detail;
namespace transport = ham::transport;

/// What a node sends: replies, each there as soon as its call is.
class connection final : public transport::endpoint {
 public:
  using endpoint::endpoint;

  void answer(std::uint32_t call) { replies_[answered_++].store(call + 1, std::memory_order_release); }
  /// The transport frees it.
  void destroy() {
    touch(&life_);
    touch(&reader_);
  }

  [[nodiscard]] std::size_t max_payload() const noexcept override { return 0; }
  [[nodiscard]] std::byte* reserve(std::size_t) noexcept override { return nullptr; }
  void cancel() noexcept override {}
  void commit(const transport::frame_head&) noexcept override {}
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return 0; }
  [[nodiscard]] transport::endpoint_state state() const noexcept override { return transport::endpoint_state::open; }
  [[nodiscard]] std::string reason() const override { return {}; }
  void close(const std::string&) noexcept override {}

  // As ring_endpoint:
  [[nodiscard]] bool poll(transport::frame& out) noexcept override {
    if (!begin_reading()) return false;
    if (take(out)) return true;
    end_reading();
    return false;
  }
  void release() noexcept override {
    if (!reads()) return;
    touch(&reader_);
    ++taken_;
    end_reading();
  }
  [[nodiscard]] bool can_be_shared() const noexcept override {
    static_cast<void>(model::plain_load(&life_, model::place::current()));
    return true;
  }
  [[nodiscard]] transport::reply_poll poll_reply(std::uint8_t, std::uint32_t call, std::size_t, unsigned,
                                                 transport::frame& out) noexcept override {
    if (!take(out)) return transport::reply_poll::nothing;
    if (out.head.call != call) return transport::reply_poll::other;
    static_cast<void>(begin_reading());
    return transport::reply_poll::reply;
  }

 private:
  [[nodiscard]] bool take(transport::frame& out) noexcept {
    touch(&reader_);
    const std::uint32_t found = replies_[taken_].load(std::memory_order_acquire);
    out.head = {0, found - 1, to_byte(wire_kind::reply)};
    return found != 0;
  }

  std::atomic<std::uint32_t> replies_[4]{};
  unsigned answered_ = 0;
  unsigned taken_ = 0;
  std::uint32_t reader_ = 0;  ///< stands for what the reader of a ring keeps
  std::uint32_t life_ = 0;    ///< for all other members
};

constexpr ham::node_t first_node = 1;
constexpr ham::node_t nodes = 2;
constexpr std::int64_t deadline_ns = 10;

struct job {
  waiter lock;
  call_table calls{nullptr, lock};
  peer_table peers{nodes + 1};
  connection* to[nodes];
  message_receiver receiver{calls};
  reply_reader alone{{peers, calls, receiver, 0}};
  std::atomic<std::uint32_t> listed{0};  ///< a call whose future others may use
  std::atomic<bool> done{false};
};

job* make(bool shared = true) {
  auto* const own = new job;
  own->calls.cancel(own->calls.claim());
  own->calls.detach_after_fork({});  // the bias of its lock is nobody's
  for (ham::node_t i = 0; i < nodes; ++i) {
    peer& who = *own->peers.claim(first_node + i);
    owner_of(*who.row) = &who;
    own->to[i] = new connection(who.node);
    own->to[i]->user = &who;
    who.to = own->to[i];
    who.state.store(peer_state::ready);
    if (shared) own->to[i]->share_reading(&who.place.reading);
  }
  return own;
}

/// What call_sender does with a slot. If the call is answered, the reply is there at once.
call_slot& call(job& own, ham::node_t node = first_node, bool answered = true) {
  call_slot& slot = own.calls.claim();
  model::plain_store(members_of(slot), 0, model::place::current());
  slot.function = reinterpret_cast<ham::msg::handler_entry*>(8);
  slot.deadline_ns = deadline_ns;
  slot.node.store(node, std::memory_order_release);
  slot.state.store(slot_state::pending, std::memory_order_release);
  slot.reply_due.store(true, std::memory_order_release);
  const std::uint32_t id = slot.id.load(std::memory_order_relaxed);
  if (answered) own.to[node - first_node]->answer(id);
  return slot;
}

/// With the receiving lock: one frame of a node. False: there is none.
bool receive_one(job& own, ham::node_t node) {
  if (!own.peers.has(node)) return false;
  transport::endpoint& from = *own.peers[node].to;
  transport::frame frame;
  if (!from.poll(frame)) return false;
  own.receiver.receive(from, frame);
  return true;
}
bool receive(job& own, ham::node_t node) {
  std::lock_guard guard(own.lock);
  return receive_one(own, node);
}

/// As engine::progress_beside_other, and then as engine::progress. False: nothing was done.
bool progress(job& own, call_slot& slot) {
  switch (own.alone.poll(slot)) {
    case polled_reply::settled: model::check(slot.settled(), "a reply that has not settled its call"); return true;
    case polled_reply::unshared: {
      std::lock_guard guard(own.lock);
      return own.alone.share(slot);
    }
    case polled_reply::elsewhere: return receive(own, slot.node.load(std::memory_order_relaxed));
    case polled_reply::nothing: break;
  }
  return false;
}

void wait(job& own, call_slot& slot) {
  while (!slot.settled()) {
    if (!progress(own, slot) && !slot.settled()) model::pause();
  }
}

void read(job& own, call_slot& slot) {
  if (slot.state.load(std::memory_order_relaxed) == slot_state::value) {
    model::check(model::plain_load(result_of(slot), model::place::current()) == slot.id.load(std::memory_order_relaxed),
                 "the result of another call");
    model::outcome("value");
  } else {
    model::outcome("failed");
  }
  touch(members_of(slot));
  own.calls.release(slot);
}

/// For call_table, as engine::settling_alone_with.
auto settling_alone_with(job& own) {
  return [&own](ham::node_t node, auto look) {
    const settling_alone nobody_else(own.peers.at_place_of(node));
    look();
  };
}

void fail(job& own, call_slot& slot) {
  touch(members_of(slot));
  touch(result_of(slot));
  own.calls.fail(slot, {});
}

/// The deadlines of all calls have passed.
void expire(job& own) {
  std::lock_guard guard(own.lock);
  own.calls.expire(deadline_ns, settling_alone_with(own), [&](call_slot& slot) {
    model::check(slot.reply_due.load(std::memory_order_relaxed), "the deadline of a call passes that is not sent");
    fail(own, slot);
  });
}

void call_and_read(job& own, ham::node_t node, bool has_deadline) {
  call_slot& slot = call(own, node);
  if (has_deadline) own.calls.add_deadline(slot.id.load(std::memory_order_relaxed), deadline_ns);
  wait(own, slot);
  read(own, slot);
}

/// Two calls of a thread that takes the replies alone, or not, beside one that receives as well.
void beside_receiver(bool shared, ham::node_t second) {
  job* const own = make(shared);
  model::start_thread([=] {
    call_and_read(*own, first_node, false);
    call_and_read(*own, second, false);
  });
  model::start_thread([=] {
    receive(*own, first_node);
    receive(*own, second);
  });
}
void replies() { beside_receiver(true, first_node); }
void not_shared_yet() { beside_receiver(false, first_node + 1); }

/// Deadlines pass meanwhile; both calls may have the same slot.
void expire_two(ham::node_t second) {
  job* const own = make();
  model::start_thread([=] {
    call_and_read(*own, first_node, true);
    call_and_read(*own, second, true);
  });
  model::start_thread([=] { expire(*own); });
}
void deadlines() { expire_two(first_node); }
void deadlines_of_two_nodes() { expire_two(first_node + 1); }

/// Another thread attaches something to the call.
void continued() {
  job* const own = make();
  auto* const then = new continuation{nullptr};
  model::start_thread([=] {
    call_slot& slot = call(*own);
    own->listed.store(slot.id.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    wait(*own, slot);
    while (!own->done.load(std::memory_order_acquire)) model::pause();
    read(*own, slot);
  });
  model::start_thread([=] {
    std::uint32_t call = 0;
    while ((call = own->listed.load(std::memory_order_acquire)) == 0) model::pause();
    call_slot& slot = *own->calls.find(call - 1);
    static_cast<void>(own->calls.attach(slot, then, [&](ham::node_t node, auto add) {
      const settling_alone nobody_else(own->peers.at_place_of(node));
      if (!slot.settled()) touch(members_of(slot));
      add();
    }));
    own->done.store(true, std::memory_order_release);
  });
  model::at_end([=] {
    model::check(own->calls.due().pop() == then && own->calls.due().pop() == nullptr,
                 "what is attached runs another number of times");
  });
}

/// As connections::lose: the node is lost; then another one gets its place, and its record is freed.
void lose(job& own, ham::node_t node) {
  std::lock_guard guard(own.lock);
  peer& who = own.peers[node];
  connection& gone = *own.to[node - first_node];
  who.end_shared_reading();
  receive_one(own, node);
  who.state.store(peer_state::lost, std::memory_order_release);
  static_cast<void>(who.disconnect());
  // fail_all_of visits all slots, which are too many for the explorer.
  call_slot* const slot = own.calls.find(own.listed.load(std::memory_order_acquire) - 1);
  if (slot != nullptr && slot->reply_due.load(std::memory_order_acquire)) {
    touch(members_of(*slot));
    touch(result_of(*slot));
    own.calls.fail_unsent(*slot, {});
  }
  gone.destroy();
  own.peers.claim(node + static_cast<ham::node_t>(peer_table::most));
}
void lost(bool answered) {
  job* const own = make();
  call_slot& slot = call(*own, first_node, answered);
  own->listed.store(slot.id.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  model::start_thread([own, &slot] {
    wait(*own, slot);
    read(*own, slot);
  });
  model::start_thread([=] { lose(*own, first_node); });
}
void lost_with_reply() { lost(true); }
void lost_without() { lost(false); }

}  // namespace

int main(int argc, char** argv) {
  static_cast<void>(no_endpoint::instance());
  return model::run(argc, argv,
                    {{"replies beside a receiver", replies, {"value"}, 2, 2},
                     {"not shared yet", not_shared_yet, {"value"}, 2, 2},
                     {"deadlines", deadlines, {"value", "failed"}, 2, 3},
                     {"deadlines of two nodes", deadlines_of_two_nodes, {"value", "failed"}, 2, 3},
                     {"something is attached", continued, {"value"}, 3, 3},
                     {"the node is lost", lost_with_reply, {"value"}, 2, 2},
                     {"lost without a reply", lost_without, {"failed"}, 2, 2}});
}
