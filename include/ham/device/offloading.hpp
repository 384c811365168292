// What the templates of ham/device.hpp call in the library. Internal; may change with every release.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/function.hpp"
#include "ham/device/outbox.hpp"
#include "ham/misc/types.hpp"

namespace ham::inline v1::detail {

struct incoming_call;

inline constexpr std::size_t no_place = SIZE_MAX;

/// A received call of a device function, as its handler hands it over.
struct device_request {
  const device::detail::function_entry* function;
  std::size_t size;                                     ///< of the arguments, in the form that devices read
  void (*write)(std::byte* to, const void* arguments);  ///< writes them
  const void* arguments;                                ///< what `write` is given
  void (*answer)(incoming_call& call, const std::byte* result);
  /// Where a parameter of `size` bytes lies in what `write` writes. no_place: it has another size, its values are other
  /// bytes in messages, or are checked where they arrive, so that what another function has given on the device cannot
  /// take its place. nullptr: all.
  std::size_t (*place)(const void* arguments, std::size_t parameter, std::size_t size) = nullptr;
};

/// Whether functions of the node that has received the call run on a device.
[[nodiscard]] bool has_device(const incoming_call& call) noexcept;
/// Whether the device of this process, if there is one, has a version of the function. Any thread.
[[nodiscard]] bool device_has(const device::detail::function_entry& function);
/// Has it executed there, and answered by another thread, without waiting for either. Throws ham::call_error,
/// std::bad_alloc.
void run_on_device(incoming_call& call, const device_request& what);
/// Throws ham::call_error: a callable of this call holds a device function, which this node's processor would execute.
[[noreturn]] void refuse_holder(const incoming_call& call);

/// One received call for which a device executes many calls of one function, some at a time and in their order: a chunk
/// of a map. Goes when it has answered: with all results, or the first error.
class device_series {
 public:
  /// Throws ham::call_error if too many calls wait on the node already.
  device_series(const incoming_call& call, const device::detail::function_entry& function, std::size_t count);
  device_series(const device_series&) = delete;
  device_series& operator=(const device_series&) = delete;
  /// Begins. What it refers to may have gone when this returns.
  void start() noexcept;

 protected:
  virtual ~device_series();

 private:
  struct element;
  struct state;

  /// Of the element `at`: the arguments, and its result.
  [[nodiscard]] virtual std::size_t size_of(std::size_t at) const = 0;
  virtual void write(std::byte* to, std::size_t at) const = 0;
  virtual void take(std::size_t at, const std::byte* result) noexcept = 0;
  /// All results are there.
  virtual void reply(incoming_call& call) = 0;

  void begin_next(element& in) noexcept;
  void note_failure() noexcept;
  [[noreturn]] void throw_stopped() const;
  void note_stop() noexcept;
  void leave() noexcept;

  state* const state_;  // owned
};

}  // namespace ham::detail

namespace ham::inline v1::device::detail {

/// Where the answer to a message of the device of this process is to go.
struct answer_place {
  std::uint32_t block;   ///< whose message it is
  std::uint32_t slot;    ///< no_answer: nobody waits for it
  std::uint64_t ticket;  ///< of the message
};

/// A function of the host that device functions call: by its number, with the bytes of its arguments.
class host_function {
 public:
  using runner = void (*)(const std::byte* arguments, std::size_t size, node_t node, const answer_place& answer);
  explicit host_function(runner what) noexcept : run_(what) { enlist(); }
  host_function(const host_function&) = delete;
  host_function& operator=(const host_function&) = delete;

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] runner run() const noexcept { return run_; }

 private:
  void enlist();
  const runner run_;
  std::uint32_t number_ = unknown_function;
};
/// A variable of the device that holds the number of such a function for its code; `symbol` stands for it on the host.
struct number_variable {
  const void* symbol;
  const host_function* function;
};
/// Adds one. Drivers write the numbers while the kernel is absent (device_driver::upload). Always true. Any thread.
bool enlist_number_variable(const number_variable& one);
/// How many there are, and which. Any thread.
[[nodiscard]] std::uint32_t count_number_variables() noexcept;
[[nodiscard]] number_variable number_variable_at(std::uint32_t index) noexcept;
/// The one of that number, or nullptr.
[[nodiscard]] const host_function* host_function_at(std::uint32_t number) noexcept;

/// Answers a message of the device of this process, with a value or without one: it has failed. Any thread.
void answer_device(const answer_place& answer, const std::byte* value, std::size_t size) noexcept;
void fail_device(const answer_place& answer) noexcept;

}  // namespace ham::device::detail
