// Submission, fetching, and the pump.
#include "context.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstring>

#include "host_functions.hpp"
#include "log.hpp"
#include "proc.hpp"
#include "ve_offload.h"

using namespace ham::veo;

namespace {

constexpr std::uint64_t max_flying = 4096;
constexpr std::uint64_t max_looked_through = 1024;   // requests, before the answer is a guess on the safe side
constexpr std::chrono::microseconds short_wait{20};  // for room, before a request goes to the backlog
thread_local veo_thr_ctxt* pumped_here = nullptr;

/// Threads of the library take no signals away from the client's.
std::thread quiet_thread(std::function<void()> work) {
  sigset_t blocked;
  sigset_t before;
  ::sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) ::sigdelset(&blocked, fault);
  ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
  std::thread result(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

std::optional<ham::offload::future<answer>> send_nothing(const ham::offload::destination& to, unseen_count,
                                                         blocking how) {
  if (how == blocking::none) return ham::offload::try_async(to, nothing_request);
  return ham::offload::async(to, nothing_request);
}

}  // namespace

veo_thr_ctxt::~veo_thr_ctxt() {
  if (pump_.joinable()) pump_.detach();
}

bool veo_thr_ctxt::runs_here() const noexcept { return pumped_here == this; }
bool veo_thr_ctxt::within_request() const noexcept { return runs_here() || called_from(*this); }

// ---- submission; the lock is held

bool veo_thr_ctxt::begin_submit() { return !closed_ && !proc_.dead(); }

void veo_thr_ctxt::wait_for_turn(std::unique_lock<std::mutex>& lock) {
  if (block_depth_ == 0) [[likely]]
    return;
  block_free_.wait(
      lock, [this] { return block_depth_ == 0 || blocks_lifted_ || block_owner_ == std::this_thread::get_id(); });
}

bool veo_thr_ctxt::has_room() const noexcept { return flying() < max_flying; }

/// There was no room a moment ago: rather the backlog than one short wait after the other.
bool veo_thr_ctxt::still_full() {
  if (!full_) [[likely]]
    return false;
  harvest();
  full_ = flying() > max_flying / 2;
  return full_;
}

bool veo_thr_ctxt::wait_a_little(std::int64_t& until_ns) {
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  if (until_ns == 0) until_ns = now + std::chrono::nanoseconds(short_wait).count();
  harvest();
  full_ = now >= until_ns;
  return !full_;
}

void veo_thr_ctxt::fail_unsent(request_state& one, const std::exception& problem) {
  note(problem);
  finish(one, VEO_COMMAND_ERROR, 0);
  ++first_unsent_;
}

/// A helper that is gone, or a request that cannot be made.
void veo_thr_ctxt::note(const std::exception& problem) {
  if (dynamic_cast<const ham::node_failure*>(&problem) != nullptr)
    proc_.lost(problem.what());
  else
    say(problem.what());
}

void veo_thr_ctxt::enqueue(request_state& one, waiting what) {
  one.at = stage::queued;
  backlog_.push_back(std::move(what));
  if (!pump_.joinable()) pump_ = quiet_thread([this] { pump(); });
  pump_due_.notify_one();
}

std::uint64_t veo_thr_ctxt::submit_local(std::function<local_result()> work) {
  std::unique_lock lock(mutex_);
  wait_for_turn(lock);
  if (!begin_submit()) return no_request;
  const std::uint64_t id = requests_.next();
  enqueue(requests_.add(), {id, {}, std::move(work)});
  return id;
}

std::optional<std::uint64_t> veo_thr_ctxt::submit_at_once(const std::function<bool()>& work) {
  std::unique_lock lock(mutex_);
  wait_for_turn(lock);
  if (!begin_submit()) return no_request;
  if (!settled()) return std::nullopt;
  const std::uint64_t id = requests_.next();
  request_state& one = requests_.add();
  ++unseen_;
  finish(one, work() ? VEO_COMMAND_OK : VEO_COMMAND_ERROR, 0);
  ++first_unsent_;
  return id;
}

// ---- results; the lock is held

/// Takes in what has been answered, in order.
void veo_thr_ctxt::harvest() {
  for (; first_flying_ < first_unsent_; ++first_flying_) {
    request_state* const one = requests_.find(first_flying_);
    if (one == nullptr || one->at != stage::flying) continue;
    // Who waits for it is about to take it, and to deliver to the client's buffers what came with it.
    if (one->waited || !one->reply.test()) return;
    collect(*one);
  }
}

void veo_thr_ctxt::collect(request_state& one) {
  try {
    const answer got = one.reply.get();
    switch (std::get<0>(got)) {
      case outcome::done:
        if (one.deliveries != nullptr) deliver(*one.deliveries, std::get<2>(got));
        finish(one, VEO_COMMAND_OK, std::get<1>(got));
        return;
      case outcome::crashed:
        proc_.lost("a kernel has crashed");
        finish(one, VEO_COMMAND_EXCEPTION, std::get<1>(got));
        return;
      case outcome::refused: finish(one, VEO_COMMAND_ERROR, 0); return;
    }
  } catch (const std::exception& problem) {
    note(problem);
  }
  finish(one, VEO_COMMAND_ERROR, 0);
}

void veo_thr_ctxt::finish(request_state& one, std::uint8_t state, std::uint64_t value) {
  one.state = state;
  one.value = value;
  one.at = stage::done;
  if (one.deliveries != nullptr) --delivering_;
  one.deliveries.reset();
  if (one.waited) changed_.notify_all();
}

/// Who sees that a request has finished finds in its buffers what the earlier ones have brought. Another thread that
/// waits for one of these delivers it: false, if it has not yet.
bool veo_thr_ctxt::deliver_before(std::uint64_t id) {
  if (delivering_ == 0) return true;
  for (std::uint64_t earlier = first_flying_; earlier < id; ++earlier) {
    request_state* const one = requests_.find(earlier);
    if (one == nullptr || one->at != stage::flying) continue;
    if (!one->waited)
      collect(*one);
    else if (one->deliveries != nullptr)
      return false;
  }
  return true;
}

int veo_thr_ctxt::take(std::uint64_t id, request_state& one, std::uint64_t* value) {
  const int state = one.state;
  if (value != nullptr) *value = one.value;
  requests_.remove(id);
  return state;
}

int veo_thr_ctxt::wait(std::uint64_t id, std::uint64_t* value) {
  std::unique_lock lock(mutex_);
  request_state* const one = requests_.find(id);
  if (one == nullptr || one->at == stage::gone || one->waited) return VEO_COMMAND_ERROR;
  if (one->at == stage::queued && within_request()) return -1;  // it would come after this very function
  if (one->at == stage::flying && called_from(*this) && !one->reply.test()) return -1;  // likewise
  one->waited = true;
  ++waiters_;
  while (one->at != stage::done) {
    if (one->at == stage::flying) {
      lock.unlock();
      one->reply.wait();
      lock.lock();
      collect(*one);
    } else {
      changed_.wait(lock);
    }
  }
  while (!deliver_before(id)) changed_.wait(lock);
  if (--waiters_ == 0 && closed_) changed_.notify_all();
  return take(id, *one, value);
}

int veo_thr_ctxt::peek(std::uint64_t id, std::uint64_t* value) {
  std::unique_lock lock(mutex_);
  request_state* const one = requests_.find(id);
  if (one == nullptr || one->at == stage::gone) return VEO_COMMAND_ERROR;
  if (one->waited || one->at == stage::queued) return VEO_COMMAND_UNFINISHED;
  if (one->at == stage::flying) {
    if (!one->reply.test()) return VEO_COMMAND_UNFINISHED;
    collect(*one);
  }
  if (!deliver_before(id)) return VEO_COMMAND_UNFINISHED;
  return take(id, *one, value);
}

bool veo_thr_ctxt::will_change(const void* memory, std::size_t bytes) {
  std::lock_guard guard(mutex_);
  if (delivering_ == 0) return false;
  harvest();
  if (requests_.next() - first_flying_ > max_looked_through) return delivering_ != 0;
  const auto* const begin = static_cast<const char*>(memory);
  for (std::uint64_t id = first_flying_; id < requests_.next(); ++id) {
    const request_state* const one = requests_.find(id);
    if (one == nullptr || one->deliveries == nullptr) continue;
    for (const delivery& to : *one->deliveries) {
      const auto* const there = static_cast<const char*>(to.to);
      if (std::less<>()(there, begin + bytes) && std::less<>()(begin, there + to.bytes)) return true;
    }
  }
  return false;
}

bool veo_thr_ctxt::settled() {
  harvest();
  return first_flying_ == requests_.next();
}

void veo_thr_ctxt::settle() {
  if (within_request()) return;
  {
    std::unique_lock lock(mutex_);
    wait_for_turn(lock);
    if (settled()) return;
  }
  sync();
}

void veo_thr_ctxt::sync() {
  if (within_request()) return;
  const std::uint64_t id = submit(send_nothing, [] { return sender(send_nothing); });
  if (id == no_request) return;
  wait(id, nullptr);
  std::unique_lock lock(mutex_);
  harvest();
}

void veo_thr_ctxt::count_unseen() noexcept {
  std::lock_guard guard(mutex_);
  ++unseen_;
}

local_result veo_thr_ctxt::exchange(const sender& send, std::unique_ptr<std::vector<delivery>> out) {
  if (within_request()) return exchange_within(send, std::move(out));
  const std::uint64_t id = submit(
      send, [&] { return send; }, std::move(out));
  local_result result{VEO_COMMAND_ERROR, 0};
  if (id != no_request) result.state = static_cast<std::uint8_t>(wait(id, &result.value));
  return result;
}

std::optional<local_result> veo_thr_ctxt::exchange_at_once(const sender& send) {
  if (within_request()) return std::nullopt;
  std::unique_lock lock(mutex_);
  wait_for_turn(lock);
  // Seen and sent under one lock: no other thread's kernel comes between.
  if (!begin_submit() || !settled()) return std::nullopt;
  const std::uint64_t id = requests_.next();
  request_state& one = requests_.add();
  if (!send_now(one, send)) {
    finish(one, VEO_COMMAND_ERROR, 0);
    ++first_unsent_;
  }
  lock.unlock();
  local_result result;
  result.state = static_cast<std::uint8_t>(wait(id, &result.value));
  return result;
}

/// All earlier requests have finished, and later ones wait for this very function. If a kernel has called it, the
/// kernel's thread waits, too: another one of the helper executes the request.
local_result veo_thr_ctxt::exchange_within(const sender& send, std::unique_ptr<std::vector<delivery>> out) {
  request_state one;
  one.deliveries = std::move(out);
  try {
    if (proc_.dead()) return {VEO_COMMAND_ERROR, 0};
    unseen_count unseen = 0;
    if (runs_here()) {
      std::lock_guard guard(mutex_);
      unseen = std::exchange(unseen_, 0);
    }
    one.reply = std::move(*send(runs_here() ? to_ : calling_line()->back, unseen, blocking::any));
    one.reply.wait();
  } catch (const std::exception& problem) {
    note(problem);
    return {VEO_COMMAND_ERROR, 0};
  }
  std::lock_guard guard(mutex_);
  if (one.deliveries != nullptr) ++delivering_;
  collect(one);
  return {one.state, one.value};
}

// ---- the pump

/// Waits until all that was sent has finished. The backlog is not empty, so nobody else sends meanwhile.
void veo_thr_ctxt::fence(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  try {
    ham::offload::sync(to_, nothing_request);
  } catch (const std::exception& problem) {
    note(problem);
  }
  lock.lock();
  harvest();
}

void veo_thr_ctxt::pump() {
  pumped_here = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    pump_due_.wait(lock, [this] { return closed_ || !backlog_.empty(); });
    if (backlog_.empty()) return;
    pump_one(lock);
  }
}

void veo_thr_ctxt::pump_one(std::unique_lock<std::mutex>& lock) {
  waiting& next = backlog_.front();
  if (flying() != 0 && (next.work || flying() >= max_flying)) {
    fence(lock);
    if (flying() >= max_flying || (next.work && flying() != 0 && !proc_.dead())) {
      changed_.wait_for(lock, std::chrono::milliseconds(1));  // a waiter is about to take one
      return;
    }
  }
  request_state& one = *requests_.find(next.id);
  if (proc_.dead()) {
    finish(one, VEO_COMMAND_ERROR, 0);
  } else if (next.work) {
    lock.unlock();
    const local_result result = next.work();
    lock.lock();
    finish(one, result.state, result.value);
  } else {
    const unseen_count unseen = std::exchange(unseen_, 0);
    lock.unlock();
    std::optional<ham::offload::future<answer>> reply;
    try {
      reply = next.send(to_, unseen, blocking::any);
    } catch (const std::exception& problem) {
      note(problem);
    }
    lock.lock();
    if (reply) {
      one.reply = std::move(*reply);
      one.at = stage::flying;
      if (one.waited) changed_.notify_all();
    } else {
      finish(one, VEO_COMMAND_ERROR, 0);
    }
  }
  ++first_unsent_;
  backlog_.pop_front();
}

void veo_thr_ctxt::close() {
  std::thread ending;
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
    pump_due_.notify_all();
    if (!runs_here()) ending.swap(pump_);
  }
  if (!ending.joinable() && runs_here()) return;
  if (ending.joinable()) ending.join();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiters_ == 0; });  // all has finished: they are about to know
  requests_ = {};
  first_flying_ = first_unsent_ = 0;
}

// ---- blocks of requests

void veo_thr_ctxt::block_begin() {
  std::unique_lock lock(mutex_);
  wait_for_turn(lock);
  block_owner_ = std::this_thread::get_id();
  ++block_depth_;
}

void veo_thr_ctxt::block_end() {
  std::lock_guard guard(mutex_);
  if (block_depth_ == 0 || block_owner_ != std::this_thread::get_id()) return;
  if (--block_depth_ == 0) block_free_.notify_all();
}

void veo_thr_ctxt::lift_blocks() {
  std::lock_guard guard(mutex_);
  blocks_lifted_ = true;
  block_free_.notify_all();
}
