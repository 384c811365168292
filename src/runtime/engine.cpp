// Life, progress and waiting of a node's runtime; how it sleeps is in engine_sleep.cpp.
#include "runtime/engine.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/cpu.hpp"
#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "msg/pool_thread.hpp"
#include "runtime/facts.hpp"
#include "runtime/forks.hpp"

namespace ham::detail {
namespace {

constexpr std::int64_t shortest_spin_ns = 3'000;
constexpr std::int64_t waking_spin_ns = 400'000;  // what a deeply resting core, or one of a guest, takes to wake up
constexpr std::int64_t crowded_spin_ns = 1'500;
constexpr std::int64_t limit_pause_ns = 10'000'000;  // between looks of a thread whose calls are nested too deep

/// The handlers known when a runtime starts. A static initialiser that made a message may have built the table early.
const msg::handler_table& all_handlers() {
  msg::handler_table::refresh();
  return msg::handler_table::local();
}

constexpr int most_frames = 64;            // handled under one hold of the receiving lock
constexpr unsigned looks_skipped = 16;     // in place of which it gets one look when it has cooled
constexpr unsigned looks_while_idle = 64;  // at the transport, before the rest is looked at again

constinit std::atomic<engine*> the_process_engine{nullptr};
constinit std::atomic<std::uint64_t> next_serial{1};

}  // namespace

constinit thread_local engine* thread_engine = nullptr;
constinit thread_local unsigned thread_depth = 0;
constinit thread_local bool thread_only_looks = false;

namespace {
/// Where this thread takes continuations from the queue of an engine, at what depth. What settles there within a
/// continuation is left to that loop, so that chains of any length take no stack.
struct drain {
  const engine* of = nullptr;
  unsigned depth = 0;
};
constinit thread_local drain thread_drain;
}  // namespace

engine* current_or_null() noexcept {
  return thread_engine != nullptr ? thread_engine : the_process_engine.load(std::memory_order_acquire);
}
void set_process_engine(engine* at) noexcept { the_process_engine.store(at, std::memory_order_release); }
engine* process_engine() noexcept { return the_process_engine.load(std::memory_order_acquire); }

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

engine* set_thread_engine(engine* at) noexcept { return std::exchange(thread_engine, at); }

engine_scope::engine_scope(engine* at) noexcept : before_(std::exchange(thread_engine, at)) {}
engine_scope::~engine_scope() { thread_engine = before_; }

template <class Done>
bool engine::wait_until(Done done, std::int64_t until_ns, const call_slot* awaited) {
  std::int64_t idle_since = 0;
  std::int64_t silent_since = 0;
  std::int64_t woken_at = INT64_MIN / 2;
  for (unsigned round = 1;; ++round) {
    if (done()) return true;
    if (progress(awaited)) {
      idle_since = 0;
      silent_since = 0;
      round = 0;
      continue;
    }
    if (round % rounds_per_clock != 0) continue;
    const std::int64_t now = base::now_ns();
    if (now >= until_ns) return done();
    if (now >= next_deadline_.load(std::memory_order_relaxed)) expire_deadlines(now);
    const bool deep = thread_depth >= most_depth;
    if (deep) [[unlikely]]
      at_limit(awaited, now, silent_since);
    if (idle_since == 0) {
      idle_since = now;
      base::home_core::go_home();
      if (awaited != nullptr && wakes_up(*awaited)) woken_at = now;
    }
    const bool many = crowded();
    const bool waking = now - woken_at < waking_spin_ns;
    const std::int64_t patience = many     ? crowded_spin_ns
                                  : waking ? waking_spin_ns
                                           : spin_ns_.load(std::memory_order_relaxed);
    if (now - idle_since > patience) {
      block(done, deep ? std::min(until_ns, now + limit_pause_ns) : until_ns);
      // Had a longer spin caught it? Then spin longer from now on; else give the core away sooner. The wake-up itself
      // is part of what was measured.
      const std::int64_t asleep = base::now_ns() - now;
      const std::int64_t spin = spin_ns_.load(std::memory_order_relaxed);
      spin_ns_.store(asleep < waking_spin_ns ? longest_spin_ns : std::max(spin / 2, shortest_spin_ns),
                     std::memory_order_relaxed);
      idle_since = 0;
    } else if (many) {
      base::yield();
    } else if (now - idle_since > shortest_spin_ns) {
      base::relax();
    }
  }
}

engine::engine(node_t self, std::size_t nodes, std::unique_ptr<base::heap> memory)
    : self_(self),
      serial_(next_serial.fetch_add(1)),
      heap_(std::move(memory)),
      peers_(nodes),
      self_endpoint_(self,
                     [this] {
                       if (sleeping_.load(std::memory_order_seq_cst)) kick();
                     }),
      slots_(this),
      contexts_(*this, backlog_),
      table_(&all_handlers()),
      known_keys_(static_cast<std::uint32_t>(table_->size())),
      next_deadline_(base::never_ns),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      spin_ns_(longest_spin_ns) {
  int kick[2];
  if (!epoll_ || ::pipe2(kick, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw config_error(
        "cannot make the descriptors that a runtime waits on" +
        base::refused_call(epoll_ ? "pipe2" : "epoll_create1", "raise the limit of open files (ulimit -n)"));
  }
  kick_out_.reset(kick[0]);
  kick_in_.reset(kick[1]);
  wait_on(kick_out_.get());
  spare_buffers_.reserve(16);
  static_cast<void>(peers_.claim(0));  // its end is this node's, also before it is met
  peer& me = *peers_.claim(self_);
  me.to = &self_endpoint_;
  me.max_payload = self_endpoint_.max_payload();
  me.hello_seen = true;
  me.facts = local_facts(self_);
  nameless_loss_ = std::make_exception_ptr(node_failure("a node failed (there is no memory left to say more)", {}));
  no_memory_ = std::make_exception_ptr(std::bad_alloc());
  me.state.store(peer_state::ready, std::memory_order_release);
  self_endpoint_.user = &me;
  disown_in_forks(*this);
}

engine::~engine() {
  forget(*this);
  leaving_.store(true);
  stop_.store(true);
  stop_relief();
  if (progress_thread_.joinable()) {
    kick();
    progress_thread_.join();
  }
  contexts_.stop();
  while (elsewhere_.load(std::memory_order_acquire) != 0) base::sleep_ns(100'000);
  for (const auto& one : transports()) one->shutdown();
  settle_the_rest();
}

/// Calls to this very node, batches that were never sent, and what hangs on them: every future settles.
void engine::settle_the_rest() {
  take_receiving();
  slots_.for_each([this](call_slot& slot) {
    if (slot.state.load() != slot_state::pending || slot.function == nullptr) return;
    slot.reply_due = false;
    slot.in_batch = false;
    fail(slot, loss_of(peers_[self_], slot.function, slot.id, call_outcome::may_have_run));
  });
  finish_progress();
  take_receiving();
  slots_.for_each([this](call_slot& slot) {
    if (slot.state.load() != slot_state::pending) return;
    fail(slot, std::make_exception_ptr(error("the runtime of this future has ended")));
  });
  finish_progress();
}

void engine::end() noexcept {
  stop_.store(true, std::memory_order_release);
  kick();
}

void engine::use(std::unique_ptr<transport::transport> transport) {
  locked([&] { adopt(std::move(transport)); });
}

void engine::adopt(std::unique_ptr<transport::transport> transport) {
  const std::size_t at = transport_count_.load(std::memory_order_relaxed);
  if (at == most_transports) {
    throw config_error("a node uses at most " + std::to_string(most_transports) + " transports");
  }
  wait_on(transport->wake_fd());
  transports_[at] = std::move(transport);
  transport_count_.store(at + 1, std::memory_order_release);
}

/// Sleep ends when `fd` is readable.
void engine::wait_on(int fd) {
  epoll_event interest{EPOLLIN, {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &interest);
}

void engine::start_progress_thread() {
  progress_thread_ = base::start_thread([this] {
    const engine_scope scope(this);
    wait_until([this] { return stop_.load(std::memory_order_acquire); }, base::never_ns);
  });
}

void engine::await_ready(node_t node) { static_cast<void>(peer_of(node)); }

void engine::serve() {
  const engine_scope scope(this);
  serving_.store(true, std::memory_order_release);
  live_at_home();
  wait_until([this] { return stop_.load(std::memory_order_acquire); }, base::never_ns);
  if (disowned_) ::_exit(EXIT_SUCCESS);  // a function forked here, and the child came back out of it
}

void engine::leave() {
  leaving_.store(true);
  stop_relief();
  const bool own = refuse_queued();
  peers_.for_each_held([this](peer& one) {
    if (one.node == self_ || one.state.load() != peer_state::ready) return;
    reply_with(one, no_reply, wire_kind::goodbye, {});
  });
  const std::int64_t until = base::now_ns() + 100'000'000;
  wait_until([&] { return outboxes_.load() == 0 && (!own || self_endpoint_.empty()); }, until);
  take_receiving();
  for (peer* const one : peers_) {
    if (one->node != self_) lost(*one, "this node's runtime has ended", peer_end::connection_lost);
  }
  finish_progress();
}

void engine::receive_while_executing() {
  wait_until([this] { return executing_.load(std::memory_order_relaxed) == 0 || end_relief_.load() || stop_.load(); },
             base::never_ns);
}

// ---- progress

void engine::take_receiving() noexcept {
  if (receiving_.try_lock()) return;
  wanted_.fetch_add(1);  // nobody goes to sleep with it now
  for (base::backoff<{.spins = 100}> pause; !receiving_.try_lock();) {
    if (sleeping_.load(std::memory_order_acquire)) kick();
    pause.wait();
  }
  wanted_.fetch_sub(1);
}

transport::endpoint* engine::next_frame(transport::frame& out, unsigned looks) {
  const std::size_t count = transport_count_.load(std::memory_order_relaxed);
  if (count != 0) [[likely]] {
    if (transport::endpoint* from = transports_[0]->poll(out, looks)) return from;
    if (count > 1) [[unlikely]] {
      if (transport::endpoint* from = next_frame_elsewhere(out)) return from;
    }
  }
  return self_endpoint_.poll(out) ? &self_endpoint_ : nullptr;
}

/// To look at a socket is a system call: done at every turn only while there is something to be expected.
transport::endpoint* engine::next_frame_elsewhere(transport::frame& out) {
  if (warmth_ == 0 && ++skipped_ < looks_skipped) return nullptr;
  skipped_ = 0;
  for (const auto& one : transports().subspan(1)) {
    if (transport::endpoint* from = one->poll(out, 1)) {
      warmth_ = longest_warmth;
      return from;
    }
  }
  if (warmth_ != 0) --warmth_;
  return nullptr;
}

bool engine::progress(const call_slot* awaited) {
  if (!receiving_.try_lock()) return !ready_.empty() && run_ready();
  bool any = false;
  if (has_events_.load(std::memory_order_acquire)) [[unlikely]]
    any = handle_events();
  if (outboxes_.load(std::memory_order_relaxed) != 0) [[unlikely]]
    flush_outboxes();
  if (deferred_.load(std::memory_order_relaxed) != 0) [[unlikely]]
    any = run_deferred(awaited) || any;
  for (int i = 0; i < most_frames && !continuation_due(); ++i) {
    transport::frame frame;
    transport::endpoint* const from = next_frame(frame, any ? 1 : looks_while_idle);
    if (from == nullptr) break;
    receive(*from, frame);
    any = true;
    if (awaited != nullptr && awaited->settled()) break;
  }
  finish_progress();
  return any;
}

/// Runs continuations until none is due, at most so many. True if one has run.
bool engine::run_continuations(std::size_t most) {
  const engine_scope scope(this);
  const bool only_looked = std::exchange(thread_only_looks, false);  // as user code it may wait for any call
  const drain before = std::exchange(thread_drain, {this, ++thread_depth});
  std::size_t run = 0;
  for (; run < most; ++run) {
    continuation* const now = ready_.pop();
    if (now == nullptr) break;
    now->run(now);
  }
  --thread_depth;
  thread_drain = before;
  thread_only_looks = only_looked;
  return run != 0;
}

/// The same after this thread has settled something itself, unless it does so within a continuation that took its turn.
void engine::run_settled() {
  const bool taken_care_of = thread_drain.of == this && thread_drain.depth == thread_depth;
  if (!taken_care_of && !ready_.empty()) run_ready();
}

void engine::poll_once() {
  if (progress()) return;
  if (next_deadline_.load(std::memory_order_relaxed) == base::never_ns) return;
  const std::int64_t now = base::now_ns();
  if (now >= next_deadline_.load(std::memory_order_relaxed)) expire_deadlines(now);
}

void engine::execute(peer& from, const transport::frame_head& head, std::span<const std::byte> payload) {
  if (static_cast<wire_kind>(head.kind) == wire_kind::batch) {
    execute_batch(from, head, payload);
    return;
  }
  const executing scope(*this, from);
  run_call(from, head.call, payload, *table_->find(head.key));
}

// ---- waiting

/// Whether the node that is to answer slept when the call was sent: a second sleep, of this side, would double the
/// wait.
bool engine::wakes_up(const call_slot& awaited) noexcept {
  if (!receiving_.try_lock()) return false;
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  transport::endpoint* const to = peers_.has(node) ? peers_[node].to.operator->() : nullptr;
  const bool woken = to != nullptr && to->take_woken();
  finish_progress();
  return woken;
}

bool engine::await_greeting(peer& who, std::int64_t until_ns) {
  return wait_until(
      [&who] {
        const peer_state now = who.state.load(std::memory_order_acquire);
        return now == peer_state::ready || now == peer_state::lost;
      },
      until_ns);
}

bool engine::wait(call_slot& slot, std::int64_t until_ns) {
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

/// For a thread that waits: executes a queued job of its pool if no other thread will. False: another one does.
bool engine::help_pool(msg::thread_pool::waiting& wait) {
  if (!wait.starved()) return false;
  if (thread_depth >= most_depth) return true;
  ++thread_depth;
  static_cast<void>(wait.help());
  --thread_depth;
  return true;
}

// ---- facts

bool engine::crowded() const noexcept {
  const auto all = transports();
  return std::any_of(all.begin(), all.end(), [](const auto& one) { return one->crowded(); });
}

std::vector<node_t> engine::ready_nodes() const {
  std::vector<node_t> result;
  peers_.for_each_held([&](const peer& one) {
    if (one.node != self_ && one.state.load(std::memory_order_acquire) == peer_state::ready) result.push_back(one.node);
  });
  return result;
}

std::size_t engine::living_nodes() const noexcept {
  std::size_t count = 0;
  peers_.for_each_held([&](const peer& one) {
    const peer_state state = one.state.load(std::memory_order_relaxed);
    if (state != peer_state::unknown && state != peer_state::lost) ++count;
  });
  return count;
}

std::string engine::address_of(node_t node) const {
  const peer_hold who = peers_.hold(node);
  std::lock_guard guard(mutex_);
  return who ? who->address : std::string();
}

offload::statistics engine::statistics() const {
  offload::statistics result;
  const peer_traffic all = peers_.traffic();
  result.calls_sent = all.calls_sent;
  result.bytes_sent = all.bytes_sent;
  result.bytes_received = all.bytes_received;
  result.calls_executed = calls_executed_.load();
  result.bytes_put = bytes_put_.load();
  result.bytes_got = bytes_got_.load();
  result.sleeps = sleeps_.load();
  return result;
}

offload::node_descriptor engine::describe(node_t node) {
  notice_losses();
  const peer_hold who = peer_of(node);
  std::lock_guard guard(mutex_);
  return offload::node_descriptor(who->facts);
}

bool engine::alive(node_t node) {
  if (node == self_) return true;
  notice_losses();
  try {
    static_cast<void>(peer_of(node));
    return true;
  } catch (const node_failure&) {
    return false;
  }
}

void engine::fail_access(node_t node) {
  const peer_hold who = peer_for(node);
  // The transport tells of the loss as well, at its own time.
  wait_until([&who] { return who->state.load(std::memory_order_acquire) == peer_state::lost; },
             base::now_ns() + 1'000'000'000);
  throw_lost(*who, nullptr, call_outcome::may_have_run);
}

}  // namespace ham::detail
