// One call that a device executes for a node.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "ham/device/offloading.hpp"
#include "ham/error.hpp"
#include "runtime/device_chain.hpp"
#include "runtime/held_call.hpp"

namespace ham::inline v1::detail {

/// Waits for calls of a device that were there before it. Who makes it holds one of its counts.
class device_fence {
 public:
  device_fence() = default;
  device_fence(const device_fence&) = delete;
  device_fence& operator=(const device_fence&) = delete;
  virtual ~device_fence() = default;

  void wait_for_one_more() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }
  void one_has_ended() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) passed();
  }

 private:
  /// Once, by the thread of the last count.
  virtual void passed() noexcept = 0;

  std::atomic<std::uint32_t> left_{1};
};

/// Kept from its arrival to its answer; one that was not answered is given up. A chain is one.
class device_execution {
 public:
  /// Throw ham::call_error if too many calls wait on the node already, std::bad_alloc.
  device_execution(const incoming_call& from, const device_request& what, std::uint32_t context);
  device_execution(const incoming_call& first, device_chain&& chain, std::uint32_t context);
  device_execution(const device_execution&) = delete;
  device_execution& operator=(const device_execution&) = delete;

  /// What it is for the device.
  [[nodiscard]] std::uint32_t number() const noexcept {
    return steps_.empty() ? function_->number() : device::detail::chain_function;
  }
  /// Whether that holds for all of its functions.
  template <class Predicate>
  [[nodiscard]] bool all_of(Predicate holds) const {
    if (steps_.empty()) return holds(*function_);
    return std::ranges::all_of(steps_, [&](const device_chain::step& one) { return holds(*one.function); });
  }
  /// Whether the device knows them, which knows so many.
  [[nodiscard]] bool is_among(std::uint32_t known) const {
    return all_of([known](const auto& one) { return one.number() < known; });
  }
  [[nodiscard]] bool of_grid() const noexcept { return function_->row.runs_on == device::scope::grid; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Calls of one context go to one queue.
  [[nodiscard]] std::uint32_t context() const noexcept { return context_; }
  /// The call of a chain that what is answered is about; the first one until then.
  void turn_to(std::uint64_t step) noexcept;
  /// The number and the name of the function, for people; of a chain that of the call that it was turned to.
  [[nodiscard]] std::uint32_t function_number() const noexcept { return function_->number(); }
  [[nodiscard]] std::string name() const;
  /// Whether the caller wants it to stop. No lock of the engine is held.
  [[nodiscard]] bool stop_requested() const noexcept {
    const stoppable_call& call = held_.call();
    return (call.stop != nullptr && call.stop->requested()) || (call.sink != nullptr && call.sink->stop_requested());
  }

  /// A block has replied. True: it was the last one.
  [[nodiscard]] bool add_reply(const device::detail::reply_slot& reply) noexcept;
  /// Whether the device has executed it, once all blocks have replied: not if it was cancelled before it began.
  [[nodiscard]] bool has_run() const noexcept { return status_ != device::call_status::stopped; }
  /// How many calls the device has executed: of a chain those before the one that was not.
  [[nodiscard]] std::size_t executed_calls() const noexcept;
  /// Answers that it was stopped before it began, or that its deadline passed.
  void cancel() noexcept;
  /// Answers the caller with the result, or with what the device has said against the call.
  void answer() noexcept;
  /// Answers that the device has failed for the reason `why`, and that the process ends. `may_have_run`: it was in a
  /// queue.
  void fail(const std::string& why, bool may_have_run) noexcept;
  /// Answers with that: it was in no queue of the device.
  void refuse(const std::exception_ptr& why) noexcept;
  /// The node ends. Who waits for the answer on this node gets it; the caller learns of the end in another way.
  void leave_unanswered(bool may_have_run) noexcept;

  // ---- for device_calls
  std::vector<std::byte> arguments;  ///< of one that waits for room
  std::uint64_t staged = 0;          ///< where the device has them, if they are longer than a slot
  std::uint32_t replies_missing = 1;
  std::vector<std::shared_ptr<device_fence>> fences;  ///< that wait for its answer
  std::int64_t stopping_ns = 0;  ///< since when the device may execute it and has been told to stop it; 0: not yet

 private:
  template <class Thrower>
  void fail_with(Thrower thrower) noexcept;
  void end_fences() const noexcept;

  void note_steps_before(std::size_t last) noexcept;

  held_call held_;
  const std::vector<device_chain::step> steps_;  // of a chain
  std::size_t failed_step_ = 0;
  const device::detail::function_entry* function_;
  void (*answer_)(incoming_call& call, const std::byte* result);
  const std::size_t size_;
  const std::uint32_t context_;
  device::call_status status_ = device::call_status::done;
  std::vector<std::byte> result_;
};

/// Where a device has failed that has executed these functions, for people; one with several blocks executes several.
[[nodiscard]] std::string in_one_of(std::vector<std::string> names);

}  // namespace ham::detail
