// Calls that a node executes on the device of its process, and calls that the device makes.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ham/device/offloading.hpp"
#include "runtime/device_execution.hpp"
#include "runtime/device_message_runner.hpp"
#include "runtime/engine.hpp"
#include "transport/device.hpp"

namespace ham::inline v1::detail {

/// The device of a node. Threads that receive calls put them into the device's queues; one thread answers them, starts
/// the resident kernel when there is a call and has it leave when there was none for a while.
class device_calls {
 public:
  /// Takes the device of `owner`, and is the one of this process from now on. Throws ham::config_error.
  device_calls(engine& at, transport::device_owner& owner);
  /// Callers are not answered what the device still executes; who waits for it on this node is.
  ~device_calls();
  device_calls(const device_calls&) = delete;
  device_calls& operator=(const device_calls&) = delete;

  /// The device of this process, if `at` is the node that has it.
  [[nodiscard]] static device_calls* of(const engine* at) noexcept;

  /// Whether that is the node that has the device of this process, or had it until it began to end. Any thread.
  [[nodiscard]] static bool is_of(const engine* at) noexcept;

  /// The device of this process; nullptr: none. It stays while the lock of end_mutex() is held.
  [[nodiscard]] static device_calls* of_this_process() noexcept;
  [[nodiscard]] static std::mutex& end_mutex() noexcept;
  /// Whether the device has a version of that function. Any thread.
  [[nodiscard]] bool has(const device::detail::function_entry& function) const noexcept {
    return driver_->has(function);
  }
  /// See run_on_device(). Any thread.
  void submit(incoming_call& call, const device_request& what, std::uint32_t context);
  void submit(incoming_call& first, device_chain&& chain, std::uint32_t context);
  /// Whether calls of that context wait, or are in a queue of the device. Any thread.
  [[nodiscard]] bool has_calls_of(std::uint32_t context);
  /// The fence waits for the calls without a context that wait, or are in a queue of the device. Any thread. Throws
  /// std::bad_alloc; nothing waits for it then.
  void pass_after_calls(const std::shared_ptr<device_fence>& fence);
  /// The vendor's stream of the calling thread's context; nullptr: the device has none. Any thread.
  [[nodiscard]] void* stream_here() const noexcept;
  /// The resident kernel is to leave, and to stay away until as many end_absence() have come; calls wait meanwhile.
  /// Does not wait: is_away() says when it has left. Any thread.
  void begin_absence();
  void end_absence() noexcept;
  [[nodiscard]] bool is_away();
  /// See poll_device(), leave_device_alone().
  bool poll();
  /// While it lives, the device of that node stays.
  class poll_scope {
   public:
    explicit poll_scope(const engine& at);
    ~poll_scope();
    poll_scope(const poll_scope&) = delete;
    poll_scope& operator=(const poll_scope&) = delete;
    /// nullptr: it has none, or that is just beginning or ending.
    [[nodiscard]] device_calls* of() const noexcept { return of_; }

   private:
    device_calls* of_ = nullptr;
  };
  void leave_alone() noexcept;
  /// See device_message_runner. With the lock of end_mutex().
  void answer(const device::detail::answer_place& to, device::detail::answer_status status, const std::byte* value,
              std::size_t size) noexcept {
    messages_.answer(to, status, value, size);
  }

 private:
  using shared_request = std::shared_ptr<device_execution>;

  // Which device the process has; all that is global here (device_of_process.cpp).
  void begin_in_process() noexcept;
  void end_in_process() noexcept;

  /// One queue of the device.
  struct queue {
    std::uint64_t sent = 0;
    std::atomic<std::uint64_t> received{0};                         ///< read without the lock, too
    std::array<shared_request, device::detail::queue_slots> calls;  ///< nullptr: the block was asked to leave
    std::size_t waiting = 0;                                        ///< calls for it that wait for room
    bool stuck = false;                                             ///< for post_waiting()
    [[nodiscard]] std::uint64_t consumed() const noexcept { return received.load(std::memory_order_relaxed); }
    [[nodiscard]] bool full() const noexcept { return sent - consumed() == device::detail::queue_slots; }
  };

  void submit(const shared_request& one, const device_request* what);

  // All of these with mutex_ held, which those with a `lock` release for a while.
  [[nodiscard]] bool stage(device_execution& one, const std::byte* arguments, const device_request* source);
  [[nodiscard]] bool post(const shared_request& one, const std::byte* arguments, const device_request* source);
  [[nodiscard]] bool has_room(const device_execution& one) noexcept;
  [[nodiscard]] bool may_begin(const device_execution& one) noexcept;
  [[nodiscard]] std::size_t& waiting_in(const device_execution& one) noexcept;
  [[nodiscard]] queue& queue_of(const device_execution& one) noexcept {
    return queues_[one.context() % queues_.size()];
  }
  bool collect(std::unique_lock<std::mutex>& lock);
  bool take_messages(std::unique_lock<std::mutex>& lock);
  bool post_waiting(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::uint64_t first_not_ended(std::size_t queue) const noexcept;
  [[nodiscard]] bool is_first(const device_execution& one) const noexcept;
  void pass_stops(std::unique_lock<std::mutex>& lock);
  void give_up(std::unique_lock<std::mutex>& lock, std::size_t queue, std::uint64_t position);
  void take_out_stopped(std::unique_lock<std::mutex>& lock);
  void follow_residency(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool is_quiet() noexcept;
  [[nodiscard]] bool wants_absence() const noexcept;
  void use_absence(std::unique_lock<std::mutex>& lock);
  void launch();
  void launch_or_end(std::unique_lock<std::mutex>& lock);
  void ask_to_leave();
  [[noreturn]] void end_process(std::unique_lock<std::mutex>& lock,
                                const transport::device_driver::failure_report& why);

  /// All that were not answered, and whether they were in a queue of the device.
  [[nodiscard]] std::vector<std::pair<shared_request, bool>> take_unanswered();
  [[nodiscard]] bool has_replied() noexcept;
  [[nodiscard]] bool is_due() noexcept;
  bool serve(std::unique_lock<std::mutex>& lock);
  void run();
  [[noreturn]] void throw_no_version(const device_execution& call) const;

  engine& at_;
  const std::unique_ptr<transport::device_driver> driver_;
  const transport::device_owner::limits limits_;
  device_message_runner messages_;  // used by the thread

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::vector<queue> queues_;
  std::list<shared_request> waiting_;  // for room, in order
  std::size_t waiting_of_grid_ = 0;
  std::atomic<bool> has_waiting_{false};  // some in waiting_; to be seen without the lock
  std::atomic<bool> is_polled_{false};    // by a thread that receives, since the thread has asked last
  std::size_t in_queues_ = 0;             // requests, not leaves
  std::size_t given_up_ = 0;              // of these; have been answered, and are taken out by the next residency
  std::uint32_t uploaded_ = 0;            // functions that the device knows
  bool was_busy_ = false;                 // there was a call or a reply since busy_ns_
  std::int64_t busy_ns_ = 0;              // when there was a call last
  std::int64_t next_asking_ns_ = 0;
  std::int64_t next_housekeeping_ns_ = 0;  // of the thread: when the rest is seen to that is not urgent
  bool is_settled_ = false;                // the kernel is resident, and is to stay
  bool leaving_ = false;
  bool absent_ = true;     // the kernel, until the thread launches it
  unsigned absences_ = 0;  // that have begun: nothing is put into the queues
  bool away_ = false;      // there are some, and the kernel is absent
  bool stop_ = false;
  bool failed_ = false;             // it has lost calls, and its process ends: nobody is to find it idle
  std::atomic<unsigned> polls_{0};  // under way
  std::thread thread_;
};

/// As run_on_device(), for a call that belongs to that context whoever makes it.
void run_on_device(incoming_call& call, const device_request& what, std::uint32_t context);

/// Waits until the device of the node, if it has one, has executed all calls of the calling thread's context.
void await_calls_on_device(const engine& at);

/// The fence passes when the device of the node, if it has one, has executed all calls without a context that it was
/// given before: at once, or later on another thread. Throws std::bad_alloc, and it never passes.
void pass_after_calls_on_device(const engine& at, const std::shared_ptr<device_fence>& fence);

}  // namespace ham::detail
