// Calls of a device that their callers want to stop: those that have begun are told, those that wait are taken out.
#include <algorithm>
#include <list>
#include <string>

#include "base/clock.hpp"
#include "runtime/device_calls.hpp"

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;

/// How often calls that wait are asked. There may be many: at most a tenth of the thread's time is spent on it.
constexpr std::int64_t asking_interval_ns = 100'000;
constexpr std::int64_t time_between_per_asking = 9;

}  // namespace

/// Whether no call is before it in any of its queues: until then it waits for others, and has not begun.
bool device_calls::is_first(const device_execution& one) const noexcept {
  return std::ranges::none_of(queues_, [&](const queue& in) {
    for (std::uint64_t position = in.consumed() + 1; position < in.sent; ++position) {
      if (in.calls[position % wire::queue_slots].get() == &one) return true;
    }
    return false;
  });
}

/// Answers a call that was cancelled behind the leave of a kernel which is to stay away: the device would do so when
/// the kernel comes back. Its place stays taken until then.
void device_calls::give_up(std::unique_lock<std::mutex>& lock, std::size_t queue, std::uint64_t position) {
  const shared_request one = std::move(queues_[queue].calls[position % wire::queue_slots]);
  ++given_up_;
  if (one->staged != 0) driver_->unstage(one->staged);
  lock.unlock();
  one->cancel();
  lock.lock();
}

/// Of that queue, where the call is that the device has begun while it keeps the replies to those before it, which
/// have ended; or else the oldest one that has no reply.
std::uint64_t device_calls::first_not_ended(std::size_t queue) const noexcept {
  for (std::uint64_t position = queues_[queue].sent; position != queues_[queue].consumed(); --position)
    if (wire::has_begun(driver_->queues()[queue], position - 1)) return position - 1;
  return queues_[queue].consumed();
}

/// Tells functions that their callers want them to stop, and ends the process if one does not. The device decides
/// whether a call has begun, and its reply tells; blocks that execute one together must not decide differently. While
/// the kernel is absent, nothing has begun that has no reply.
void device_calls::pass_stops(std::unique_lock<std::mutex>& lock) {
  const std::int64_t now = base::now_ns();
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const std::uint64_t not_ended = first_not_ended(i);
    for (std::uint64_t position = queues_[i].consumed(); position != queues_[i].sent; ++position) {
      device_execution* const one = queues_[i].calls[position % wire::queue_slots].get();
      if (one == nullptr || !one->stop_requested()) continue;
      wire::send_stop(driver_->queues()[i], position);
      if (!one->of_grid()) wire::cancel_call(driver_->queues()[i], position);
      if (absent_) {
        if (away_ && !one->of_grid() && wire::is_unanswered(driver_->queues()[i], position % wire::queue_slots))
          give_up(lock, i, position);
        continue;
      }
      if (limits_.watchdog_ns == 0 || position < not_ended) continue;
      const bool begun = wire::has_begun(driver_->queues()[i], position);
      if (!begun && (position != queues_[i].consumed() || !is_first(*one))) continue;
      if (one->stopping_ns == 0) one->stopping_ns = now;
      if (now - one->stopping_ns > limits_.watchdog_ns) {
        one->turn_to(wire::executed_step(driver_->queues()[i], wire::stamp_of(position)));
        const std::int64_t waited_ms = (now - one->stopping_ns) / 1'000'000;
        end_process(lock, {"a function has not ended for " + std::to_string(waited_ms) +
                               " ms after it was asked to stop; have it ask ham::device::stop_requested()",
                           {one->function_number()}});
      }
    }
  }
}

/// Those that wait for room. Answers them outside of the lock.
void device_calls::take_out_stopped(std::unique_lock<std::mutex>& lock) {
  const std::int64_t begin = base::now_ns();
  if (waiting_.empty() || begin < next_asking_ns_) return;
  std::list<shared_request> stopped;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto one = at++;
    if (!(*one)->stop_requested()) continue;
    --waiting_in(**one);
    stopped.splice(stopped.end(), waiting_, one);
  }
  const std::int64_t end = base::now_ns();
  next_asking_ns_ = end + std::max(asking_interval_ns, time_between_per_asking * (end - begin));
  if (stopped.empty()) return;
  lock.unlock();
  for (const shared_request& one : stopped) one->cancel();
  stopped.clear();
  lock.lock();
}

}  // namespace ham::detail
