// Hand-over of control between threads, virtual time, and faults.
#include "sim/scheduler.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
extern char __data_start;
extern char _end;
}

namespace ham::inline v1::sim {

scheduler* running = nullptr;
thread_record* me = nullptr;
void (*on_printed)(std::string_view line) = nullptr;

namespace {

std::string name_of(void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_sname == nullptr) return {};
  int status = 1;
  char* const plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = status == 0 ? plain : info.dli_sname;
  std::free(plain);
  return name;
}

/// The functions of HAM that the calling thread is in, the innermost first.
void print_stack() noexcept {
  constexpr int max_frames = 64;
  constexpr int shown = 12;
  void* frames[max_frames];
  const int count = ::backtrace(frames, max_frames);
  int lines = 0;
  for (int i = 1; i < count && lines < shown; ++i) {
    std::string name = name_of(frames[i]);
    if (name.find("ham::") == std::string::npos || name.find("::sim::scheduler") != std::string::npos ||
        name.starts_with("std::"))
      continue;
    if (name.size() > 150) name.resize(150);
    std::fprintf(stderr, "      %s\n", name.c_str());
    ++lines;
  }
}

/// Of the calling thread.
void find_stack(thread_record& self) noexcept {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t size = 0;
  ::pthread_getattr_np(::pthread_self(), &attributes);
  ::pthread_attr_getstack(&attributes, &begin, &size);
  ::pthread_attr_destroy(&attributes);
  self.stack_begin = static_cast<const char*>(begin);
  self.stack_end = self.stack_begin + size;
}

const char* name_of(seam kind) noexcept {
  switch (kind) {
    case seam::atomic: return "an atomic operation";
    case seam::lock: return "before a lock";
    case seam::unlock: return "after a lock";
    case seam::wait: return "a wait";
    case seam::wake: return "a wake-up";
    case seam::clock: return "the clock";
    case seam::yield: return "yield";
    case seam::thread: return "a start of a thread";
    case seam::io: return "a write";
    case seam::step: return "a step of the workload";
  }
  return "";
}

}  // namespace

// ---- store buffers

/// All simulated threads are one thread of the kernel: it is enough that the compiler keeps the order.
template <class T>
static void write_as(void* at, std::uint64_t value) noexcept {
  __atomic_store_n(static_cast<T*>(at), static_cast<T>(value), __ATOMIC_RELEASE);
}

void store_buffer::write_first() noexcept {
  const entry first = at(0);
  first_ = (first_ + 1) % room;
  --count_;
  --entries_at_[bucket_of(first.at)];
  if (!within_word(first.at, first.size)) [[unlikely]]
    --entries_at_[next_to(bucket_of(first.at))];
  switch (first.size) {
    case 1: write_as<std::uint8_t>(first.at, first.value); break;
    case 2: write_as<std::uint16_t>(first.at, first.value); break;
    case 4: write_as<std::uint32_t>(first.at, first.value); break;
    default: write_as<std::uint64_t>(first.at, first.value); break;
  }
}

void store_buffer::write_rest() noexcept {
  while (count_ != 0) write_first();
}

const store_buffer::entry* store_buffer::find(const void* place, unsigned size, bool& overlaps) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  overlaps = false;
  for (unsigned i = count_; i-- != 0;) {
    const entry& one = at(i);
    const auto stored = reinterpret_cast<std::uintptr_t>(one.at);
    if (stored >= begin + size || begin >= stored + one.size) continue;
    if (stored == begin && one.size == size) return &one;
    overlaps = true;
  }
  return nullptr;
}

bool store_buffer::touches(const void* place, std::size_t size) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  for (unsigned i = 0; i < count_; ++i) {
    const auto stored = reinterpret_cast<std::uintptr_t>(at(i).at);
    if (stored < begin + size && begin < stored + at(i).size) return true;
  }
  return false;
}

// ---- control

scheduler::scheduler(const schedule& how, failure_handler on_failure)
    : how_(how), on_failure_(std::move(on_failure)), random_(how.seed) {
  threads_.reserve(256);
}

scheduler::~scheduler() {
  for (thread_record* const one : threads_) delete one;
}

void scheduler::begin() {
  __libc_single_threaded = 0;  // as the C library would say if it had started the threads
  auto* const first = new thread_record;
  first->node = first->starts_for = no_node;
  first->handle = ::pthread_self();
  find_stack(*first);
  threads_.push_back(first);
  able_.push_back(first);
  current_ = first;
  progress_ns_ = now_ns_;
  begin_run();
  running = this;
  me = first;
}

void scheduler::end() {
  flush_all_stores();
  running = nullptr;
  me = nullptr;
}

void scheduler::begin_run() noexcept {
  loads_left_ = max_loads;
  run_left_ = 1 + static_cast<std::int64_t>(random_.below(2 * how_.mean_run));
}

bool scheduler::is_stopped(int node) const noexcept {
  return std::any_of(stopped_.begin(), stopped_.end(),
                     [&](const auto& pause) { return pause.first == node && pause.second > now_ns_; });
}

void scheduler::change(thread_record& one, thread_record::state to) noexcept {
  using state = thread_record::state;
  const auto list_of = [this](state now) {
    return now == state::runnable ? &able_ : now == state::blocked ? &blocked_ : nullptr;
  };
  if (auto* const from = list_of(one.now)) {
    thread_record* const last = from->back();
    (*from)[one.place] = last;
    last->place = one.place;
    from->pop_back();
    if (one.now == state::blocked) --waiting_on_[place_of(one.channel)];
  }
  one.now = to;
  if (auto* const there = list_of(to)) {
    one.place = there->size();
    there->push_back(&one);
    if (to == state::blocked) ++waiting_on_[place_of(one.channel)];
  }
}

/// The threads whose time has come can run.
void scheduler::end_waits() noexcept {
  first_timeout_ns_ = never;
  for (std::size_t i = 0; i < blocked_.size();) {
    if (blocked_[i]->until_ns <= now_ns_) {
      wake(*blocked_[i], true);  // another one is in its place now
      continue;
    }
    first_timeout_ns_ = std::min(first_timeout_ns_, blocked_[i]->until_ns);
    ++i;
  }
}

thread_record* scheduler::choose_now() noexcept {
  if (now_ns_ >= first_timeout_ns_) end_waits();
  // Of those that can run: each has its turn soon, however many have ended.
  if (how_.by_priority && !able_.empty() && random_.once_in(16))
    able_[random_.below(able_.size())]->priority = random_.next();
  if (!how_.by_priority && stopped_.empty()) return able_.empty() ? nullptr : able_[random_.below(able_.size())];
  std::size_t able = 0;
  thread_record* best = nullptr;
  for (thread_record* const one : able_) {
    if (!stopped_.empty() && is_stopped(one->node)) continue;
    ++able;
    if (how_.by_priority ? best == nullptr || one->priority > best->priority : random_.once_in(able)) best = one;
  }
  return best;
}

void scheduler::let_time_pass() noexcept {
  std::int64_t next = able_.empty() ? never : now_ns_;  // those that could run are of nodes that are stopped
  for (const thread_record* const one : blocked_) next = std::min(next, one->until_ns);
  for (const auto& [node, until] : stopped_) {
    if (until > now_ns_) next = next <= now_ns_ ? until : std::min(next, until);
  }
  std::erase_if(stopped_, [&](const auto& pause) { return pause.second <= next; });
  if (next == never) fail("deadlock: all threads wait, and nothing will ever wake them");
  now_ns_ = std::max(now_ns_ + 1, next);
  if (now_ns_ - progress_ns_ > timeout_ns) fail("nothing comes on: something waits for ever");
}

thread_record& scheduler::choose() noexcept {
  for (;;) {
    if (thread_record* const one = choose_now()) return *one;
    let_time_pass();
  }
}

void scheduler::carry_out_kills() noexcept {
  std::erase_if(to_kill_later_, [this](const later& one) {
    if (one.at > hand_overs_) return false;
    to_kill_.push_back(one.node);
    return true;
  });
  std::erase_if(to_kill_, [this](int node) {
    for (const thread_record* const one : threads_) {
      if (one->node != node) continue;
      if (!one->held.empty()) return false;
    }
    for (thread_record* const one : threads_) {
      if (one->node != node || one->now == thread_record::state::done) continue;
      one->stores.write_all();
      change(*one, thread_record::state::killed);
      wake_all(one);
    }
    killed_.push_back(node);
    wake_all(&killed_channel_);
    return true;
  });
}

void scheduler::hand_on(seam kind) noexcept {
  if (failing_) return;
  if (++hand_overs_ - progress_hand_over_ > max_hand_overs)
    fail("too many hand-overs without progress: something goes on for ever");
  if (now_ns_ - progress_ns_ > timeout_ns) fail("nothing comes on: something goes on for ever");
  now_ns_ += static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(how_.mean_tick_ns)));
  if (!to_kill_.empty() || !to_kill_later_.empty()) carry_out_kills();
  // Stores leave the buffers of some threads.
  for (unsigned i = 0; i < 2; ++i) {
    store_buffer& some = threads_[random_.below(threads_.size())]->stores;
    if (!some.empty()) some.write_first();
  }
  if (current_->now == thread_record::state::runnable) current_->waits_for = name_of(kind);
  thread_record& next = choose();
  begin_run();
  note((static_cast<std::uint64_t>(next.number) << 8U | static_cast<std::uint64_t>(kind)) ^
       static_cast<std::uint64_t>(now_ns_) << 20U);
  if (&next != current_) switch_to(next);
}

void scheduler::switch_to(thread_record& next) noexcept {
  thread_record& self = *current_;
  current_ = &next;
  me = &next;
  switch_context(self.at, next.at);
  show_if_asked(self);
}

void scheduler::show_if_asked(thread_record& self) noexcept {
  while (self.shows_itself) {
    self.shows_itself = false;
    print_stack();
    switch_context(self.at, current_->at);  // the one that fails
  }
}

void scheduler::yield(seam kind) noexcept {
  current_->priority = random_.below(1U << 20U);
  now_ns_ += 4 * how_.mean_tick_ns;  // it has nothing to do
  hand_on(kind);
}

bool scheduler::block(const void* channel, std::int64_t until_ns, const char* what) noexcept {
  flush_stores();
  thread_record& self = *current_;
  self.channel = channel;
  self.until_ns = until_ns;
  self.waits_for = what;
  change(self, thread_record::state::blocked);
  first_timeout_ns_ = std::min(first_timeout_ns_, until_ns);
  hand_on(seam::wait);
  self.channel = nullptr;
  self.until_ns = never;
  return !self.timed_out;
}

void scheduler::wake(thread_record& one, bool timed_out) noexcept {
  one.timed_out = timed_out;
  change(one, thread_record::state::runnable);
}

void scheduler::wake_all_of(const void* channel) noexcept {
  for (std::size_t i = 0; i < blocked_.size();) {
    if (blocked_[i]->channel == channel)
      wake(*blocked_[i], false);  // another one is in its place now
    else
      ++i;
  }
}

void scheduler::wake_one(const void* channel) noexcept {
  if (waiting_on_[place_of(channel)] == 0) return;
  thread_record* chosen = nullptr;
  std::size_t waiting = 0;
  for (thread_record* const one : blocked_) {
    if (one->channel == channel && random_.once_in(++waiting)) chosen = one;
  }
  if (chosen != nullptr) wake(*chosen, false);
}

std::int64_t scheduler::clock_ns() noexcept {
  now_ns_ += 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(2 * how_.mean_tick_ns)));
  return now_ns_;
}

void scheduler::flush_all_stores() noexcept {
  for (thread_record* const one : threads_) one->stores.write_all();
}

// ---- threads

thread_record& scheduler::add_thread(void* (*first)(void*), void* (*work)(void*), void* argument) {
  idle_thread* const from = [] {
    const outside of_the_simulation;
    return take_idle_thread();
  }();
  if (from == nullptr) fail("the simulation cannot start a thread");
  auto* const made = new thread_record;
  made->number = static_cast<int>(threads_.size());
  made->node = made->starts_for = current_->starts_for;
  made->priority = random_.next();
  made->work = work;
  made->argument = argument;
  made->from = from;
  made->at = from->at;
  made->handle = from->handle;
  made->stack_begin = from->stack_begin;
  made->stack_end = from->stack_end;
  from->work = first;
  from->argument = made;
  threads_.push_back(made);
  made->place = able_.size();
  able_.push_back(made);
  return *made;
}

void scheduler::leave() noexcept {
  flush_stores();
  thread_record& self = *current_;
  if (!self.from->stack_sufficed()) fail("a thread needs a larger stack than the simulation gives it");
  change(self, thread_record::state::done);
  wake_all(&self);
  hand_on(seam::thread);
  __builtin_unreachable();
}

thread_record* scheduler::find(pthread_t handle) noexcept {
  for (std::size_t i = threads_.size(); i-- != 0;) {  // handles are used again
    if (::pthread_equal(threads_[i]->handle, handle) != 0) return threads_[i];
  }
  return nullptr;
}

int scheduler::start_for(int node) noexcept { return std::exchange(current_->starts_for, node); }

std::size_t scheduler::living_threads(int node) const noexcept {
  return static_cast<std::size_t>(std::count_if(threads_.begin(), threads_.end(), [&](const thread_record* one) {
    return one->node == node && one->now != thread_record::state::done && one->now != thread_record::state::killed;
  }));
}

// ---- faults

void scheduler::kill(int node) noexcept {
  to_kill_.push_back(node);
  hand_on(seam::step);
}

void scheduler::kill_after(int node, std::uint64_t hand_overs) noexcept {
  to_kill_later_.push_back({node, hand_overs_ + hand_overs});
}

void scheduler::stop(int node, std::int64_t duration_ns) { stopped_.emplace_back(node, now_ns_ + duration_ns); }

int scheduler::await_killed(std::size_t& seen) noexcept {
  while (seen == killed_.size()) static_cast<void>(block(&killed_channel_, never, "the death of a node"));
  return killed_[seen++];
}

bool scheduler::is_global(const void* what) noexcept {
  const auto* const at = static_cast<const char*>(what);
  return at >= &__data_start && at < &_end;
}

// ---- failures

void scheduler::show_threads() noexcept {
  static constexpr const char* states[] = {"can run", "waits", "has ended", "was killed"};
  for (thread_record* const one : threads_) {
    if (one->now == thread_record::state::done) continue;
    std::fprintf(stderr, "  thread %d of node %d: %s (%s)", one->number, one->node,
                 states[static_cast<unsigned>(one->now)], one->waits_for);
    if (one->now == thread_record::state::blocked && one->until_ns != never)
      std::fprintf(stderr, ", for %.3f ms more", static_cast<double>(one->until_ns - now_ns_) / 1e6);
    std::fprintf(stderr, "\n");
    if (one == current_) {
      print_stack();
    } else if (one->now != thread_record::state::killed) {
      one->shows_itself = true;
      switch_context(current_->at, one->at);
    }
  }
}

void scheduler::fail(const std::string& what) noexcept {
  if (!failing_) {
    failing_ = true;
    std::fprintf(stderr, "FAILED after %.6f s of simulated time and %llu hand-overs: %s\n",
                 static_cast<double>(now_ns_ - 1'000'000'000) / 1e9, static_cast<unsigned long long>(hand_overs_),
                 what.c_str());
    show_threads();
    on_failure_(what);
  }
  me = nullptr;  // all processes end
  ::_exit(1);
}

}  // namespace ham::sim
