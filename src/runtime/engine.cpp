// Life, progress and waiting of a node's runtime; how it sleeps is in engine_sleep.cpp.
#include "runtime/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/thread.hpp"
#include "base/ticks.hpp"
#include "base/tracer.hpp"
#include "core/pool_wait.hpp"
#include "core/unobserved.hpp"
#include "msg/pool_thread.hpp"
#include "runtime/device_polling.hpp"
#include "runtime/forks.hpp"
#include "runtime/graph_messages.hpp"
#include "runtime/node_info.hpp"
#include "runtime/recording.hpp"

namespace ham::inline v1::detail {
namespace {

/// The handlers known when a runtime starts. A static initialiser that made a message may have built the table early.
const msg::handler_table& all_handlers() {
  msg::handler_table::refresh();
  return msg::handler_table::local();
}

constexpr int max_frames = 64;                                    // handled under one hold of the receiving lock
constexpr unsigned polls_while_idle = 64 / base::polls_left_out;  // before the rest is looked at again
/// Some 20 us: so long others wait at most for a thread that takes its replies alone, if no thread polls for all.
constexpr std::uint64_t alone_ticks = 8 * base::timed_sample::quick_ticks;

constinit std::atomic<std::uint64_t> next_serial{1};
constinit std::atomic<node_t> made_last{-1};  ///< whose lines threads of no node write

continuation* report_abandoned(engine& owner, node_t node, const msg::handler_entry& function,
                               std::exception_ptr why) noexcept {
  return report_later(owner.self(), node, function, std::move(why), owner.is_ending());
}

peer& own_record(peer_table& peers, node_t self) {
  static_cast<void>(peers.claim(0));  // its end is this node's, also before it is met
  return *peers.claim(self);
}

/// Throws in a child that was forked from a process of a job.
void refuse_forked() {
  if (const std::string why = why_forked_away(); !why.empty())
    throw config_error("no HAM runtime is up (" + why + "); make a ham::runtime here, or exec");
}

}  // namespace

engine& current() {
  engine* at = current_or_null();
  if (at == nullptr) [[unlikely]] {
    refuse_forked();
    throw config_error(
        "no HAM runtime is up (main was not wrapped, or it has ended already); link ham::offload, or make "
        "a ham::runtime before the first call");
  }
  return *at;
}

engine& engine_of_runtime(std::uint64_t serial) {
  if (engine* const mine = current_or_null(); mine != nullptr && mine->serial == serial) return *mine;
  engine* const at = find_engine(serial);
  if (at == nullptr) [[unlikely]] {
    refuse_forked();
    throw config_error("the runtime of this node, context or buffer has ended; end what uses it before its runtime");
  }
  return *at;
}

std::uint64_t serial_of(const engine& at) noexcept { return at.serial; }

engine::engine(node_t self, std::size_t nodes, std::unique_ptr<base::heap> heap)
    : self_(self),
      table_(&all_handlers()),
      serial(next_serial.fetch_add(1)),
      counters(self),
      memory(this, std::move(heap)),
      peers(nodes, &counters),
      own(own_record(peers, self)),
      ways(self),
      events(peers, waits),
      replies(self, waits, events, calls),
      flow(peers, self_endpoint_, replies),
      faults(self, base::parse_faults(base::text_of(base::setting::fault), "HAM_FAULT"), *table_),
      thread_contexts(*this),
      waits(*this, &counters),
      standby(this, *this, waits),
      calls(this, waits, &report_abandoned),
      continuations(this, calls.due()),
      numbers(&calls.due()),
      losses(&calls.due()),
      reports(calls.due()),
      calls_in(*this, {this, self, *table_, peers, waits, flow, replies, continuations, &counters, stage_messages()}),
      greetings(own, *table_, replies, waits),
      all_connections(*this,
                      {own, *table_, peers, transports_, waits, calls, greetings, receiver_, replies, events, &faults}),
      calls_out(*this, {self, *table_, peers, waits, calls, flow, events, &faults, this, &reports}),
      batches_out(calls_out, calls, self),
      self_endpoint_(self, [this] { waits.wake_if_asleep(); }),
      receiver_(*this, {*table_, calls_in, calls, greetings, &faults, self}),
      replies_alone_({peers, calls, receiver_, self, &faults}),
      forwarder_(*this, self, ways, peers, replies),
      no_memory_(std::make_exception_ptr(std::bad_alloc())) {
  own.to = &self_endpoint_;
  own.max_payload = self_endpoint_.max_payload();
  own.hello_seen = true;
  own.about.introduce(local_node_info(self_), {});
  own.show_met();
  base::use_log_node([]() noexcept {
    const engine* const at = current_or_null();
    return static_cast<int>(at == nullptr ? made_last.load(std::memory_order_relaxed) : at->self());
  });
  made_last.store(self_, std::memory_order_relaxed);
  own.state.store(peer_state::ready, std::memory_order_release);
  self_endpoint_.user = &own;
  detach_in_forks(*this);
  start_recorder(self_);
}

engine::~engine() {
  forget(*this);
  while (holders.load(std::memory_order_acquire) != 0) base::sleep_ns(10'000);
  leaving_.store(true);
  stop_.store(true);
  standby.stop();
  if (progress_thread_.joinable()) {
    waits.wake();
    progress_thread_.join();
  }
  thread_contexts.stop();
  while (calls_in.runs_elsewhere()) base::sleep_ns(100'000);
  memory.started().stop();
  transports_.shutdown();
  memory.transfers().stop();
  settle_the_rest();
  graphs.clear();
  if (const std::uint64_t untold = take_unreported(); untold != 0)
    base::log("runtime", base::log_level::warning, "node %d: %llu more errors that nobody has read are not shown",
              self_, static_cast<unsigned long long>(untold));
}

/// Calls to this very node, batches that were never sent, and what hangs on them: every future settles.
void engine::settle_the_rest() {
  waits.lock();
  losses.release_all();
  settled.settle_all([this](call_slot& slot, slot_state outcome) { calls.settle(slot, outcome); });
  calls.fail_pending([this](call_slot& slot) {
    return slot.function == nullptr ? std::exception_ptr()
                                    : loss_of(own, slot.function, slot.id, call_outcome::may_have_run);
  });
  finish_progress();
  waits.lock();
  const auto ended = std::make_exception_ptr(runtime_ended("the runtime of this future has ended"));
  calls.fail_pending([&](call_slot&) { return ended; });
  finish_progress();
}

void engine::end() noexcept {
  stop_.store(true, std::memory_order_release);
  waits.wake();
}

void engine::interrupt_service() noexcept {
  interrupted_.store(true, std::memory_order_release);
  waits.wake();
}

void engine::use(std::unique_ptr<transport::transport> transport) {
  locked([&] { adopt(std::move(transport)); });
}

void engine::adopt(std::unique_ptr<transport::transport> transport) {
  const int wake_fd = transport->wake_fd();
  const char* const device = transport->device_type();
  transports_.add(std::move(transport));
  if (wake_fd >= 0) waits.watch(wake_fd);
  if (device != nullptr) own.about.set_device_type(device);
}

void engine::start_progress_thread() {
  std::lock_guard guard(mutex_);
  if (progress_thread_.joinable()) return;
  progress_thread_ = base::start_thread([this] {
    const engine_scope scope(this);
    wait_until([this] { return stop_.load(std::memory_order_acquire); }, base::never_ns);
  });
}

bool engine::await_ready(node_t node, std::int64_t until_ns) {
  if (until_ns != base::never_ns && !await_greeting(*peer_for(node), until_ns)) return false;
  static_cast<void>(peer_of(node));
  return true;
}

void engine::serve(const std::function<void()>& first) {
  const engine_scope scope(this);
  serving_.store(true, std::memory_order_release);
  waits.adopt_home_core();
  if (first) first();
  wait_until([this] { return stopping() || interrupted_.load(std::memory_order_acquire); }, base::never_ns);
  if (interrupted_.exchange(false)) serving_.store(false, std::memory_order_release);
  end_forked_child();
}

void engine::leave() {
  end_transfers();
  leaving_.store(true);
  numbers.end();  // what waits for a restart fails
  standby.stop();
  const bool calls_itself = refuse_queued();
  // Those that are reached through others, the others, and last the node through which this one reaches others.
  enum class distance : std::uint8_t { far, near, starter };
  const auto distance_to = [this](node_t node) {
    if (self_ != 0 && node == ways.starter()) return distance::starter;
    return ways.hop_to(node) == node ? distance::near : distance::far;
  };
  const auto say_goodbye = [&](distance to) {
    bool any = calls_itself && to == distance::near;
    peers.for_each_held([&](peer& one) {
      if (one.node == self_ || distance_to(one.node) != to || one.state.load() != peer_state::ready) return;
      replies.reply_with(one, frame_header::of(wire_kind::goodbye), {});
      any = true;
    });
    if (!any) return;
    const std::int64_t until = base::now_ns() + 100'000'000;
    wait_until([&] { return peers.filled_outboxes().load() == 0 && (!calls_itself || self_endpoint_.empty()); }, until);
  };
  for (const distance to : {distance::far, distance::near, distance::starter}) say_goodbye(to);
  waits.lock();
  waits.rouse();
  for (peer* const one : peers) {
    if (one->node != self_) all_connections.lose(*one, "this node's runtime has ended", peer_end::left);
  }
  finish_progress();
}

/// What was handed over is completed, unless it stands still. What waits for it goes on when the nodes are lost, so
/// that it cannot wait for them.
void engine::end_transfers() noexcept {
  constexpr std::int64_t max_wait_ns = 2'000'000'000;
  const std::int64_t until = base::now_ns() + max_wait_ns;
  memory.started().finish(until);
  memory.transfers().finish(until);
  waits.lock();
  handle_events();
  waits.unlock();
}

// ---- progress

bool engine::progress(const call_slot* awaited, bool all) {
  if (this_thread.polls_left != 0) [[unlikely]] {
    --this_thread.polls_left;
    const polled_reply seen = awaited == nullptr ? polled_reply::elsewhere : poll_alone(*awaited);
    if (seen == polled_reply::settled) return true;
    if (seen == polled_reply::nothing) return continuations.due() && continuations.run();
    this_thread.polls_left = 0;
  }
  if (!waits.try_lock_to_poll()) [[unlikely]]
    return progress_beside_other(awaited);
  if (this_thread.polled_alone || this_thread.refusals != 0) [[unlikely]]
    end_polling_alone(awaited);
  waits.rouse();
  const std::uint64_t polled_at = std::exchange(this_thread.polled_at, 0);
  bool any = false;
  if (events.pending()) [[unlikely]]
    any = handle_events();
  if (peers.filled_outboxes().load(std::memory_order_relaxed) != 0) [[unlikely]]
    for (peer* const one : peers) one->flush_if_free();
  any = calls_in.run_deferred(awaited) || any;
  for (int i = 0; i < max_frames && !continuations.may_run(); ++i) {
    transport::frame frame;
    transport::endpoint* const from = next_frame(frame, any || all ? 1 : polls_while_idle);
    if (from == nullptr) break;
    if (!any) this_thread.polled_at = polled_at;
    receiver_.receive(*from, frame);
    this_thread.polled_at = 0;
    any = true;
    if (awaited == nullptr || !awaited->settled()) continue;
    if (frame.at_once && frame.head.kind == to_byte(wire_kind::reply)) receive_further(*awaited);
    break;
  }
  finish_progress();
  if (calls_on_devices.load(std::memory_order_relaxed) != 0) [[unlikely]]
    any = poll_device(*this) || any;
  return any;
}

/// Results that have arrived behind an awaited one are the next to be waited for, most likely, and cost less now than
/// under a lock of their own. Nothing may be attached to their ends that would keep the waiting thread.
void engine::receive_further(const call_slot& awaited) {
  constexpr int max_further = 7;
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  for (int i = 0; i < max_further; ++i) {
    transport::endpoint* from = nullptr;  // the last result may have cost its sender the connection
    if (peers.has(node)) from = peers[node].to;
    std::uint32_t call = 0;
    if (from == nullptr || !from->peek(to_byte(wire_kind::reply), transport::readable_payload, call)) return;
    const call_slot* const slot = calls.find(call);
    // No reply due: the slot is nobody's, and what it has is not this lock's to look at.
    if (slot == nullptr || !slot->reply_due.load(std::memory_order_acquire) || slot->then != nullptr) return;
    transport::frame frame;
    if (!from->poll(frame)) return;
    receiver_.receive(*from, frame);
    if (frame.head.kind != to_byte(wire_kind::reply)) return;
  }
}

/// Another thread polls all endpoints. This one can poll for what it waits for.
bool engine::progress_beside_other(const call_slot* awaited) {
  constexpr unsigned polls = 256;          // some us; then it tries to poll all endpoints again
  constexpr unsigned patient_rounds = 16;  // another thread that only passes by is no reason
  const polled_reply seen = awaited == nullptr ? polled_reply::elsewhere : poll_alone(*awaited);
  switch (seen) {
    case polled_reply::settled:
    case polled_reply::nothing:
      this_thread.polls_left = polls;
      this_thread.refused_at = base::read_ticks();
      if (seen == polled_reply::settled) return true;
      break;
    case polled_reply::unshared:
      if (++this_thread.refusals < patient_rounds) break;
      this_thread.refusals = 0;
      locked([&] { static_cast<void>(replies_alone_.share(*awaited)); });
      break;
    case polled_reply::elsewhere: break;
  }
  return continuations.due() && continuations.run();
}

polled_reply engine::poll_alone(const call_slot& awaited) {
  if (this_thread.depth != 0 && calls_in.has_deferred()) return polled_reply::elsewhere;  // which it may have to begin
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  polled_reply seen = polled_reply::settled;
  try {
    seen = replies_alone_.poll(awaited);
  } catch (const std::exception& problem) {
    locked([&] {
      if (peers.has(node)) fail_peer(peers[node], problem.what());
    });
  }
  if (seen == polled_reply::nothing || seen == polled_reply::settled) {
    this_thread.polled_alone = true;
    waits.note_polling_alone();
  }
  if (seen == polled_reply::settled) {
    // The thread may compute between its calls: polls alone are no measure of time.
    if (base::read_ticks() - this_thread.refused_at > alone_ticks) this_thread.polls_left = 0;
    if (continuations.due()) continuations.run();
  }
  return seen;
}

/// The receiving lock is held.
void engine::end_polling_alone(const call_slot* awaited) noexcept {
  this_thread.polled_alone = false;
  this_thread.refusals = 0;
  if (awaited != nullptr) replies_alone_.leave_to_poll(*awaited);
}

bool engine::poll_once() {
  memory.move_started_on();
  const bool any = progress(nullptr, true);
  if (next_due_ns() == base::never_ns) return any;
  const std::int64_t now = base::now_ns();
  if (now < next_due_ns()) return any;
  expire_deadlines(now);
  return true;
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
  if (base::tracing()) [[unlikely]]
    return wait_traced(slot, until_ns);
  return wait_untraced(slot, until_ns);
}

bool engine::wait_traced(call_slot& slot, std::int64_t until_ns) {
  if (slot.settled()) return true;
  const std::uint32_t call = slot.id.load(std::memory_order_relaxed);
  const node_t peer = slot.node.load(std::memory_order_relaxed);
  const std::uint32_t function = slot.function == nullptr ? msg::invalid_key : slot.function->key();
  base::traced_wait waiting(self_, call);
  const bool settled = wait_untraced(slot, until_ns);
  waiting.end(peer, function);
  return settled;
}

bool engine::wait_untraced(call_slot& slot, std::int64_t until_ns) {
  if (memory.transfers().busy()) [[unlikely]]
    memory.transfers().help(slot, until_ns);
  memory.move_started_on();
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

/// The transport tells of the loss as well, at its own time.
void engine::fail_access(peer& who) {
  const std::int64_t until = base::now_ns() + 1'000'000'000;
  if (base::on_library_thread)
    await_loss(who, until);
  else
    wait_until([&who] { return who.state.load(std::memory_order_acquire) == peer_state::lost; }, until);
  throw_loss(who);
}

/// On a thread that must not run calls and continuations.
void engine::await_loss(peer& who, std::int64_t until_ns) {
  base::backoff<base::backoff_schedule{.spins = 100, .yields = 100, .sleep_ns = 50'000}> pause;
  while (!notice_loss(who) && base::now_ns() < until_ns) pause.wait();
}

bool engine::notice_loss(peer& who) noexcept {
  if (events.pending() && waits.try_lock()) {
    handle_events();
    waits.unlock();
    if (continuations.due()) waits.wake();  // who sleeps next runs it first
  }
  return who.state.load(std::memory_order_acquire) == peer_state::lost;
}

}  // namespace ham::detail
