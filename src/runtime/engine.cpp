// Life, progress and waiting of a node's runtime; how it sleeps is in engine_sleep.cpp.
#include "runtime/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "core/pool_wait.hpp"
#include "msg/pool_thread.hpp"
#include "runtime/forks.hpp"
#include "runtime/node_info.hpp"

namespace ham::detail {
namespace {

/// The handlers known when a runtime starts. A static initialiser that made a message may have built the table early.
const msg::handler_table& all_handlers() {
  msg::handler_table::refresh();
  return msg::handler_table::local();
}

constexpr int max_frames = 64;             // handled under one hold of the receiving lock
constexpr unsigned polls_while_idle = 64;  // at the transport, before the rest is looked at again

constinit std::atomic<std::uint64_t> next_serial{1};

peer& own_record(peer_table& peers, node_t self) {
  static_cast<void>(peers.claim(0));  // its end is this node's, also before it is met
  return *peers.claim(self);
}

}  // namespace

engine& current() {
  engine* at = current_or_null();
  if (at == nullptr) [[unlikely]] {
    if (const std::string why = why_forked_away(); !why.empty())
      throw config_error("no HAM runtime is up (" + why + "); make a ham::runtime here, or exec");
    throw config_error(
        "no HAM runtime is up (main was not wrapped, or it has ended already); link ham::offload, or make "
        "a ham::runtime before the first call");
  }
  return *at;
}

std::uint64_t serial_of(const engine& at) noexcept { return at.serial(); }

template <class Done>
bool engine::wait_until(Done done, std::int64_t until_ns, const call_slot* awaited) {
  return waiter_.wait_until(
      done, [this, awaited] { return progress(awaited); }, until_ns, awaited);
}

engine::engine(node_t self, std::size_t nodes, std::unique_ptr<base::heap> memory)
    : self_(self),
      serial_(next_serial.fetch_add(1)),
      memory_(this, std::move(memory)),
      peers_(nodes),
      own_(own_record(peers_, self)),
      self_endpoint_(self, [this] { waiter_.wake_if_asleep(); }),
      events_(peers_, waiter_),
      replies_(self, waiter_, events_, calls_),
      flow_(peers_, self_endpoint_, replies_),
      contexts_(*this),
      table_(&all_handlers()),
      waiter_(*this),
      standby_(this, *this, waiter_),
      calls_(this, waiter_),
      continuations_(this, calls_.due()),
      dispatcher_(*this, {this, self, *table_, peers_, waiter_, flow_, replies_, continuations_}),
      handshake_(own_, replies_, waiter_),
      receiver_(*this, {*table_, dispatcher_, calls_, handshake_}),
      connections_(*this,
                   {own_, *table_, peers_, transports_, waiter_, calls_, handshake_, receiver_, replies_, events_}),
      sender_(*this, {self, *table_, peers_, waiter_, calls_, flow_, events_}),
      forwarder_(peers_, replies_) {
  own_.to = &self_endpoint_;
  own_.max_payload = self_endpoint_.max_payload();
  own_.hello_seen = true;
  own_.about.introduce(local_node_info(self_), {});
  no_memory_ = std::make_exception_ptr(std::bad_alloc());
  own_.state.store(peer_state::ready, std::memory_order_release);
  self_endpoint_.user = &own_;
  detach_in_forks(*this);
}

engine::~engine() {
  forget(*this);
  leaving_.store(true);
  stop_.store(true);
  standby_.stop();
  if (progress_thread_.joinable()) {
    waiter_.wake();
    progress_thread_.join();
  }
  contexts_.stop();
  while (dispatcher_.runs_elsewhere()) base::sleep_ns(100'000);
  transports_.shutdown();
  memory_.transfers().stop();
  settle_the_rest();
}

/// Calls to this very node, batches that were never sent, and what hangs on them: every future settles.
void engine::settle_the_rest() {
  waiter_.lock();
  settled_.settle_all([this](call_slot& slot, slot_state outcome) { calls_.settle(slot, outcome); });
  calls_.fail_pending([this](call_slot& slot) {
    return slot.function == nullptr ? std::exception_ptr()
                                    : loss_of(own_, slot.function, slot.id, call_outcome::may_have_run);
  });
  finish_progress();
  waiter_.lock();
  const auto ended = std::make_exception_ptr(error("the runtime of this future has ended"));
  calls_.fail_pending([&](call_slot&) { return ended; });
  finish_progress();
}

void engine::end() noexcept {
  stop_.store(true, std::memory_order_release);
  waiter_.wake();
}

void engine::use(std::unique_ptr<transport::transport> transport) {
  locked([&] { adopt(std::move(transport)); });
}

void engine::adopt(std::unique_ptr<transport::transport> transport) {
  const int wake_fd = transport->wake_fd();
  const char* const device = transport->device_type();
  transports_.add(std::move(transport));
  if (wake_fd >= 0) waiter_.watch(wake_fd);
  if (device != nullptr) own_.about.set_device_type(device);
}

void engine::start_progress_thread() {
  std::lock_guard guard(mutex_);
  if (progress_thread_.joinable()) return;
  progress_thread_ = base::start_thread([this] {
    const engine_scope scope(this);
    wait_until([this] { return stop_.load(std::memory_order_acquire); }, base::never_ns);
  });
}

void engine::await_ready(node_t node) { static_cast<void>(peer_of(node)); }

bool engine::await_ready(node_t node, std::int64_t until_ns) {
  if (!await_greeting(*peer_for(node), until_ns)) return false;
  await_ready(node);
  return true;
}

void engine::serve() {
  const engine_scope scope(this);
  serving_.store(true, std::memory_order_release);
  live_at_home();
  wait_until([this] { return stop_.load(std::memory_order_acquire); }, base::never_ns);
  if (detached_) ::_exit(EXIT_SUCCESS);  // a function forked here, and the child came back out of it
}

void engine::leave() {
  end_transfers();
  leaving_.store(true);
  standby_.stop();
  const bool own = refuse_queued();
  const auto say_goodbye = [&](bool to_host) {
    peers_.for_each_held([&](peer& one) {
      if (one.node == self_ || (one.node == 0) != to_host || one.state.load() != peer_state::ready) return;
      replies_.reply_with(one, frame_header::of(wire_kind::goodbye), {});
    });
    const std::int64_t until = base::now_ns() + 100'000'000;
    wait_until([&] { return peers_.filled_outboxes().load() == 0 && (!own || self_endpoint_.empty()); }, until);
  };
  say_goodbye(false);
  if (self_ != 0) say_goodbye(true);  // what others get through the host goes before
  waiter_.lock();
  for (peer* const one : peers_) {
    if (one->node != self_) connections_.lose(*one, "this node's runtime has ended", peer_end::connection_lost);
  }
  finish_progress();
}

/// What was handed over is completed, unless it stands still. What waits for it goes on when the nodes are lost, so
/// that it cannot wait for them.
void engine::end_transfers() noexcept {
  constexpr std::int64_t max_wait_ns = 2'000'000'000;
  memory_.transfers().finish(base::now_ns() + max_wait_ns);
  waiter_.lock();
  handle_events();
  waiter_.unlock();
}

// ---- progress

bool engine::progress(const call_slot* awaited) {
  if (!waiter_.try_lock()) return continuations_.due() && continuations_.run();
  bool any = false;
  if (events_.pending()) [[unlikely]]
    any = handle_events();
  if (peers_.filled_outboxes().load(std::memory_order_relaxed) != 0) [[unlikely]]
    for (peer* const one : peers_) one->flush_if_free();
  any = dispatcher_.run_deferred(awaited) || any;
  for (int i = 0; i < max_frames && !continuations_.may_run(); ++i) {
    transport::frame frame;
    transport::endpoint* const from = next_frame(frame, any ? 1 : polls_while_idle);
    if (from == nullptr) break;
    receiver_.receive(*from, frame);
    any = true;
    if (awaited != nullptr && awaited->settled()) break;
  }
  finish_progress();
  return any;
}

void engine::poll_once() {
  if (progress()) return;
  if (calls_.next_deadline_ns() == base::never_ns) return;
  const std::int64_t now = base::now_ns();
  if (now >= calls_.next_deadline_ns()) expire_deadlines(now);
}

// ---- waiting

bool engine::await_greeting(peer& who, std::int64_t until_ns) {
  return wait_until(
      [&who] {
        const peer_state now = who.state.load(std::memory_order_acquire);
        return now == peer_state::ready || now == peer_state::lost;
      },
      until_ns);
}

bool engine::wait(call_slot& slot, std::int64_t until_ns) {
  if (memory_.transfers().busy()) [[unlikely]]
    memory_.transfers().help(slot, until_ns);
  if (msg::pool_of_this_thread != nullptr) [[unlikely]]
    return wait_in_pool(slot, until_ns);
  return await_settled(slot, until_ns);
}

bool engine::await_settled(call_slot& slot, std::int64_t until_ns) {
  return wait_until([&slot] { return slot.settled(); }, until_ns, &slot);
}

/// A thread of the pool waits: another one executes queued jobs meanwhile, or, when there can be no more threads, this
/// one does.
bool engine::wait_in_pool(call_slot& slot, std::int64_t until_ns) {
  constexpr std::int64_t often_ns = 1'000'000;
  constexpr std::int64_t seldom_ns = 100'000'000;
  msg::thread_pool::waiting scope;
  for (bool starved = false;;) {
    const std::int64_t next = base::now_ns() + (starved ? often_ns : seldom_ns);
    if (await_settled(slot, std::min(until_ns, next))) return true;
    if (until_ns <= next) return false;
    starved = help_pool(scope);
  }
}

void engine::fail_access(node_t node) {
  const peer_hold who = peer_for(node);
  // The transport tells of the loss as well, at its own time.
  wait_until([&who] { return who->state.load(std::memory_order_acquire) == peer_state::lost; },
             base::now_ns() + 1'000'000'000);
  throw_lost(*who, nullptr, call_outcome::may_have_run);
}

void engine::fail_background_access(peer& who) {
  const std::int64_t until = base::now_ns() + 1'000'000'000;
  base::backoff<base::backoff_schedule{.spins = 100, .yields = 100, .sleep_ns = 50'000}> pause;
  while (who.state.load(std::memory_order_acquire) != peer_state::lost && base::now_ns() < until) {
    if (events_.pending() && waiter_.try_lock()) {
      handle_events();
      waiter_.unlock();
      if (continuations_.due()) waiter_.wake();  // who sleeps next runs it first
    }
    pause.wait();
  }
  throw_lost(who, nullptr, call_outcome::may_have_run);
}

}  // namespace ham::detail
