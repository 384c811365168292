#include "runtime/device_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/own_counters.hpp"
#include "base/thread.hpp"
#include "core/thread_state.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/device_polling.hpp"

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;

/// How long answers have to leave before a process ends whose device has failed.
constexpr std::int64_t last_answers_ns = 20'000'000;
/// How often the thread sees to what is not urgent, while replies and messages are awaited: to ask a driver for the
/// state of its device takes as long as a call.
constexpr std::int64_t housekeeping_interval_ns = 50'000;
/// And, at most, messages that the device had sent before.
constexpr std::int64_t last_messages_ns = 200'000'000;

/// Only an emulated link needs the clock.
const wire::reply_slot* arrived_reply(wire::call_queue& from, std::uint64_t position) noexcept {
  const wire::reply_slot* const found = wire::find_reply(from, position, base::never_ns);
  if (found == nullptr || wire::acquire(found->arrival_ns) == 0) return found;
  return wire::find_reply(from, position, base::now_ns());
}

}  // namespace

device_calls::device_calls(engine& at, transport::device_owner& owner)
    : at_(at),
      driver_(owner.take_device()),
      limits_(owner.device_limits()),
      messages_(at, driver_->messages()),
      queues_(driver_->queues().size()) {
  transport::device_description what = driver_->description();
  at.own.about.set_device(
      {std::move(what.name), std::move(what.capability), std::move(what.driver), what.processors, what.memory_bytes});
  at_.counters.note_device(base::counter_head::device_state::idle);
  if (device_heap* const memory = at.memory.device(); memory != nullptr) {
    memory->on_absence_wanted([this] {
      { const std::lock_guard guard(mutex_); }  // whoever is about to sleep does so, and is woken
      work_.notify_one();
    });
  }
  thread_ = base::start_thread([this] { run(); });
  begin_in_process();
}

device_calls::~device_calls() {
  end_in_process();
  for (base::backoff<base::backoff_schedule{.spins = 100}> pause; polls_.load(std::memory_order_acquire) != 0;)
    pause.wait();
  if (device_heap* const memory = at_.memory.device(); memory != nullptr) memory->on_absence_wanted({});
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  thread_.join();
  calls_on_devices.fetch_sub(static_cast<std::uint32_t>(in_queues_), std::memory_order_relaxed);
  for (const auto& [one, may_have_run] : take_unanswered()) one->leave_unanswered(may_have_run);
}

std::size_t& device_calls::waiting_in(const device_execution& one) noexcept {
  return one.of_grid() ? waiting_of_grid_ : queue_of(one).waiting;
}

/// Whether no call waits that goes before it.
bool device_calls::may_begin(const device_execution& one) noexcept {
  return one.of_grid() ? waiting_.empty() : waiting_of_grid_ == 0 && queue_of(one).waiting == 0;
}

bool device_calls::has_room(const device_execution& one) noexcept {
  if (absences_ != 0 || !one.is_among(uploaded_)) return false;
  if (one.of_grid()) return std::ranges::none_of(queues_, &queue::full);
  return !queue_of(one).full();
}

/// Has the device keep arguments that are longer than a slot. False: it has no memory for them, and may have some when
/// one of the calls in its queues has ended. Throws std::bad_alloc: there is none of them.
bool device_calls::stage(device_execution& one, const std::byte* arguments, const device_request* source) {
  try {
    if (arguments != nullptr) {
      one.staged = driver_->stage({arguments, one.size()});
      return true;
    }
    std::vector<std::byte> bytes(one.size());
    source->write(bytes.data(), source->arguments);
    one.staged = driver_->stage(bytes);
    return true;
  } catch (const std::bad_alloc&) {
    if (in_queues_ == 0) throw;
    return false;
  }
}

/// Its arguments are in `arguments`, or `source` writes them. False: there is no room, the device does not know the
/// function yet, or is to have no calls for a while. Throws std::bad_alloc: the device never has memory for its
/// arguments.
bool device_calls::post(const shared_request& one, const std::byte* arguments, const device_request* source) {
  if (!has_room(*one)) return false;
  const auto write = [&](std::byte* to) {
    if (source != nullptr)
      source->write(to, source->arguments);
    else
      std::copy_n(arguments, one->size(), to);
  };
  if (one->size() > wire::max_arguments && !stage(*one, arguments, source)) return false;
  const std::size_t first = one->of_grid() ? 0 : one->context() % queues_.size();
  const std::size_t count = one->of_grid() ? queues_.size() : 1;
  one->replies_missing = static_cast<std::uint32_t>(count);
  for (std::size_t i = first; i < first + count; ++i) {
    queue& to = queues_[i];
    wire::call_queue& memory = driver_->queues()[i];
    if (one->staged == 0) write(wire::call_room(memory, to.sent));
    to.calls[to.sent % wire::queue_slots] = one;
    wire::send_call(memory, to.sent++, one->number(), static_cast<std::uint32_t>(one->size()), one->staged);
  }
  ++in_queues_;
  calls_on_devices.fetch_add(1, std::memory_order_relaxed);
  was_busy_ = true;
  return true;
}

/// Calls that wait for room in one queue do not hold up those for others; those of the grid hold up all behind them.
bool device_calls::post_waiting(std::unique_lock<std::mutex>& lock) {
  std::size_t left =
      static_cast<std::size_t>(std::ranges::count_if(queues_, [](const queue& one) { return one.waiting; }));
  for (queue& one : queues_) one.stuck = false;
  bool any = false;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    shared_request one = *at;
    const bool has_turn = one->of_grid() ? at == waiting_.begin() : !queue_of(*one).stuck;
    bool posted = false;
    try {
      posted = has_turn && post(one, one->arguments.data(), nullptr);
    } catch (const std::bad_alloc&) {
      const std::exception_ptr why = std::current_exception();
      --waiting_in(*one);
      waiting_.erase(at);
      lock.unlock();
      one->refuse(why);
      one.reset();
      lock.lock();
      return true;  // others may have come
    }
    if (posted) {
      --waiting_in(*one);
      at = waiting_.erase(at);
      any = true;
      continue;
    }
    if (one->of_grid() || (has_turn && --left == 0)) break;
    queue_of(*one).stuck = true;
    ++at;
  }
  return any;
}

/// Answers calls outside of the lock; another thread may take the next replies meanwhile.
bool device_calls::collect(std::unique_lock<std::mutex>& lock) {
  bool any = false;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    queue& from = queues_[i];
    while (from.consumed() != from.sent) {
      const wire::reply_slot* const reply = arrived_reply(driver_->queues()[i], from.consumed());
      if (reply == nullptr) break;
      any = true;
      shared_request one = std::move(from.calls[from.consumed() % wire::queue_slots]);
      const bool complete = one != nullptr && one->add_reply(*reply);  // does not throw
      from.received.store(from.consumed() + 1, std::memory_order_relaxed);
      if (!complete) continue;
      --in_queues_;
      calls_on_devices.fetch_sub(1, std::memory_order_relaxed);
      was_busy_ = true;
      if (one->staged != 0) driver_->unstage(one->staged);
      lock.unlock();
      for (std::size_t calls = one->executed_calls(); calls != 0; --calls) at_.counters.count_device_call();
      one->answer();
      one.reset();
      lock.lock();
    }
  }
  return any;
}

/// Has messages executed by their own thread: calls go on while it waits.
bool device_calls::take_messages(std::unique_lock<std::mutex>& lock) {
  if (!messages_.is_due(base::now_ns())) return false;
  busy_ns_ = base::now_ns();
  lock.unlock();
  messages_.run();
  lock.lock();
  return true;
}

/// Without the lock, for which threads that submit calls would have to wait.
bool device_calls::has_replied() noexcept {
  for (std::size_t i = 0; i < queues_.size(); ++i)
    if (arrived_reply(driver_->queues()[i], queues_[i].consumed()) != nullptr) return true;
  return false;
}

bool device_calls::poll() {
  if (!is_polled_.load(std::memory_order_relaxed)) is_polled_.store(true, std::memory_order_relaxed);
  if (!has_replied()) return false;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !collect(lock)) return false;
  post_waiting(lock);
  return true;
}

void device_calls::leave_alone() noexcept {
  is_polled_.store(false, std::memory_order_relaxed);
  work_.notify_one();
}

/// Whether there may be something for serve(). Without the lock, too.
bool device_calls::is_due() noexcept {
  const std::int64_t now_ns = base::now_ns();
  return now_ns >= next_housekeeping_ns_ || has_waiting_.load(std::memory_order_relaxed) || messages_.is_due(now_ns) ||
         has_replied();
}

/// One round of all that the thread does. False: there was nothing.
bool device_calls::serve(std::unique_lock<std::mutex>& lock) {
  bool any = collect(lock);
  any = take_messages(lock) || any;
  any = post_waiting(lock) || any;
  has_waiting_.store(!waiting_.empty(), std::memory_order_relaxed);
  const std::int64_t now_ns = base::now_ns();
  if (now_ns < next_housekeeping_ns_) return any;
  if (std::exchange(was_busy_, false)) busy_ns_ = now_ns;
  pass_stops(lock);
  take_out_stopped(lock);
  follow_residency(lock);
  next_housekeeping_ns_ = is_settled_ ? base::now_ns() + housekeeping_interval_ns : 0;
  return any;
}

void device_calls::run() {
  const engine_scope scope(&at_);
  this_thread.only_receives = true;  // a function that it executed might wait for the device, whose replies it takes
  this_thread.serves_others = true;
  using backoff =
      base::backoff<base::backoff_schedule{.spins = 100, .yields = 400, .sleep_ns = 20'000, .max_sleep_ns = 100'000}>;
  backoff pause;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (serve(lock)) {
      pause.reset();
    } else if (is_polled_.exchange(false, std::memory_order_relaxed)) {
      work_.wait_for(lock, std::chrono::nanoseconds(housekeeping_interval_ns));
      pause.reset();
    } else if (pause.next() == backoff::step::sleep) {
      const std::chrono::nanoseconds time(pause.next_sleep_ns());
      if (work_.wait_for(lock, time) == std::cv_status::no_timeout)
        pause.reset();
      else
        pause.wait(0);
    } else {
      lock.unlock();
      do pause.wait();
      while (pause.next() != backoff::step::sleep && !is_polled_.load(std::memory_order_relaxed) && !is_due());
      lock.lock();
    }
  }
}

std::vector<std::pair<device_calls::shared_request, bool>> device_calls::take_unanswered() {
  std::vector<std::pair<shared_request, bool>> all;
  for (queue& from : queues_) {
    for (std::uint64_t position = from.consumed(); position != from.sent; ++position) {
      shared_request& one = from.calls[position % wire::queue_slots];
      if (one == nullptr) continue;
      const bool of_other_queue = std::ranges::any_of(all, [&](const auto& before) { return before.first == one; });
      if (!of_other_queue) all.emplace_back(std::move(one), true);
    }
  }
  for (shared_request& one : waiting_) all.emplace_back(std::move(one), false);
  waiting_.clear();
  return all;
}

/// What the device executes is lost, and so is what it has in its memory. Calls that arrive from now on are not
/// answered: they are lost with the process, so that retry and pools repeat them, and pools do not send all their tasks
/// to the node that answers first.
void device_calls::end_process(std::unique_lock<std::mutex>& lock,
                               const transport::device_driver::failure_report& why) {
  static_cast<void>(collect(lock));  // what the device has replied before it failed
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    queue& in = queues_[i];
    for (std::uint64_t position = in.consumed(); position != in.sent; ++position) {  // replies may be on their way
      if (const shared_request& one = in.calls[position % wire::queue_slots]; one != nullptr)
        one->turn_to(wire::executed_step(driver_->queues()[i], wire::stamp_of(position)));
    }
  }
  failed_ = true;
  const std::vector<std::pair<shared_request, bool>> all = take_unanswered();
  std::vector<std::string> suspects;
  for (const auto& [one, in_queue] : all) {
    if (in_queue && std::ranges::count(why.functions, one->function_number()) != 0) suspects.push_back(one->name());
  }
  const std::string text = "its device reports \"" + why.what + "\"" + in_one_of(std::move(suspects));
  lock.unlock();
  base::log("runtime", base::log_level::error, "node %d ends: %s", at_.self(), text.c_str());
  for (const auto& [one, may_have_run] : all) one->fail(text, may_have_run);
  const std::int64_t until_ns = base::now_ns() + last_messages_ns;
  while (!messages_.is_quiet() && base::now_ns() < until_ns) {  // what it has printed may tell why
    if (messages_.is_due(base::now_ns())) messages_.run();
    base::sleep_ns(last_answers_ns / 20);
  }
  base::sleep_ns(last_answers_ns);
  ::_exit(1);
}

}  // namespace ham::detail
