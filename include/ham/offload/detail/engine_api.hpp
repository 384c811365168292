// What the templates of the offload API call in the library. Internal; may change with every release.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "ham/offload/destination.hpp"
#include "ham/offload/detail/reservation.hpp"
#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

class call_stop;
using offload::destination;
using offload::detail::call_place;

/// The runtime that the calling thread works for. Throws ham::config_error if none is up.
[[nodiscard]] engine& current();
/// The runtime of that number. Throws ham::config_error if it has ended.
[[nodiscard]] engine& engine_of_runtime(std::uint64_t serial);
/// The runtime that `to` names, or that of the calling thread. Throws as these.
[[nodiscard]] inline engine& engine_for(const destination& to) {
  return to.runtime == 0 ? current() : engine_of_runtime(to.runtime);
}

/// Its number among all that this process has had, and whether the one of that number is still there.
[[nodiscard]] std::uint64_t serial_of(const engine& at) noexcept;
[[nodiscard]] bool is_up(std::uint64_t serial) noexcept;

/// Keeps the runtime of that number, if it is up, from ending for a moment. Not over code of the program.
class held_engine {
 public:
  explicit held_engine(std::uint64_t serial) noexcept;
  ~held_engine();
  held_engine(const held_engine&) = delete;
  held_engine& operator=(const held_engine&) = delete;

  explicit operator bool() const noexcept { return at_ != nullptr; }
  /// Settles a local slot of it, whose value or error is in its storage. What waits for it goes on where progress is
  /// made.
  void settle(call_slot& slot, slot_state outcome) const noexcept;
  /// It, if it is up.
  [[nodiscard]] engine& at() const noexcept { return *at_; }
  /// Stops a call of it, if it is still pending.
  void stop_call(std::uint32_t call, offload::when_stopped how) const noexcept;

 private:
  engine* at_;
};

/// The longest message in bytes that the node of the calling thread takes (HAM_MAX_MESSAGE). Throws as current().
[[nodiscard]] std::size_t max_message();

/// Makes `at` the runtime of the calling thread for a while.
class engine_scope {
 public:
  explicit engine_scope(engine* at) noexcept;
  ~engine_scope();
  engine_scope(const engine_scope&) = delete;
  engine_scope& operator=(const engine_scope&) = delete;

 private:
  engine* before_;
};

// ---- sending a call

enum class when_full : std::uint8_t {
  wait,
  refuse,
  refuse_unready,  ///< nor is anything waited for where the node is not connected, or is being started again
};

/// Checks the destination, claims a slot (none if `decode` is nullptr: fire and forget) and room for `size` bytes.
/// False: nothing will be sent, because a policy that refuses found no room, or until the deadline; then the slot,
/// if there is one, has failed already.
/// Throws call_error, node_failure, config_error.
[[nodiscard]] bool begin_call(engine& at, const call_place& to, msg::handler_entry& function, std::size_t size,
                              result_decoder decode, when_full policy, call_room& out);
/// The handler of calls by a name that is known at run time (src/c_api/functions.hpp).
[[nodiscard]] msg::handler_entry& by_name_entry() noexcept;
/// Sends the message.
void finish_call(engine& at, call_room& message);

/// While it lives, calls that the thread makes are not stopped with the call that it executes, and none is the one that
/// owned_answers means.
class stop_shield {
 public:
  stop_shield() noexcept;
  stop_shield(const stop_shield&) = delete;
  stop_shield& operator=(const stop_shield&) = delete;
  ~stop_shield();

 private:
  call_stop* before_;
  unsigned depth_;
  unsigned owned_;
};

// ---- slots

/// A slot that is settled by this process itself.
[[nodiscard]] call_slot* make_local_slot(engine& at);
/// Settles a local slot; the value or error is in its storage already. Its continuation is run, at once or, within
/// another continuation, after that one.
void settle_local(call_slot& slot, slot_state outcome) noexcept;
/// Waits until the slot has settled or the time has come (steady_clock, nanoseconds; INT64_MAX: no limit); makes
/// progress meanwhile. True if settled.
bool wait_slot(call_slot& slot, std::int64_t until_ns);
/// Makes some progress without waiting.
void poll_slot(call_slot& slot);
/// The same with an error.
void fail_local(call_slot& slot, std::exception_ptr why) noexcept;
/// Asks the call of a slot to stop. False: it has settled, or is none that can be asked.
bool request_stop(call_slot& slot, offload::when_stopped how) noexcept;
/// Kills the process that executes the call of a slot. False: it has settled. Throws ham::call_error.
bool kill_call(call_slot& slot);
/// Throws the error of a failed slot, and gives the slot back.
[[noreturn]] void rethrow_failure(call_slot& slot);
/// Gives a failed slot back; its error is told, unless somebody has seen it.
void drop_failure(call_slot& slot) noexcept;
/// The error of a settled slot, which has been seen then; nullptr: it has a value.
[[nodiscard]] std::exception_ptr see_failure(call_slot& slot) noexcept;
[[noreturn]] void rethrow(std::exception_ptr what);
[[nodiscard]] std::exception_ptr no_result() noexcept;
[[noreturn]] void throw_no_result();
[[noreturn]] void throw_no_runtime();
/// Gives a settled slot back whose storage is empty.
void release_slot(call_slot& slot) noexcept;
/// Nobody will look at this pending slot again. False: it has settled meanwhile, or something runs when it does, and it
/// is still the caller's.
[[nodiscard]] bool abandon_slot(call_slot& slot) noexcept;
/// The same, and its error is nobody's business.
[[nodiscard]] bool abandon_quietly(call_slot& slot) noexcept;
/// Runs `what` when the slot settles; if it has, at once or, within another continuation, after that one. Takes it
/// over.
void attach(call_slot& slot, continuation* what);

// ---- receiving a call

/// Takes the result of a call whose caller is not waiting for a reply message: a stage of a recorded graph. One of
/// finish() and fail() is called, once, by the thread that executes the call.
class result_sink {
 public:
  /// Memory for a result of `size` bytes; valid until finish(). Throws std::bad_alloc.
  [[nodiscard]] virtual std::byte* begin(std::size_t size) = 0;
  /// The result is there.
  virtual void finish() noexcept = 0;
  /// The call has failed with the exception that is being handled.
  virtual void fail() noexcept = 0;
  /// Whether nobody wants the result any more. Asked until one of these is called, by any thread.
  [[nodiscard]] virtual bool stop_requested() const noexcept { return false; }

 protected:
  ~result_sink() = default;
};

/// A call that arrived. `payload` holds the arguments, valid while the handler runs.
struct incoming_call {
  engine* at = nullptr;
  peer* from = nullptr;
  std::span<const std::byte> payload;
  std::uint32_t call = 0;
  const msg::handler_entry* function = nullptr;
  batch_reply* batch = nullptr;
  bool decoded = false;         ///< the arguments were what they should be: what is thrown now is the function's
  bool stoppable = false;       ///< it is a stoppable_call
  result_sink* sink = nullptr;  ///< takes the result in place of `from`
};

/// One that its caller can stop.
struct stoppable_call : incoming_call {
  std::shared_ptr<call_stop> stop;  ///< runs as long as copies of this pointer live
};

/// Room for a reply of `size` bytes. Throws call_error if the caller takes none of that size.
void begin_reply(incoming_call& call, std::size_t size, reply_room& out);
/// Sends it.
void finish_reply(incoming_call& call, reply_room& reply) noexcept;
/// begin and finish of a reply without a value.
void reply_nothing(incoming_call& call);
/// Sends the exception that is being handled back to the caller.
void reply_exception(incoming_call& call) noexcept;
/// Answers with the exception that is being handled, or closes the endpoint if it says that the arguments were not what
/// they should be.
void call_failed(incoming_call& call) noexcept;
/// The arguments were not what they should be: closes the endpoint.
void reject_call(incoming_call& call, const char* why) noexcept;
/// A copy of this call will be answered by another thread. Throws ham::call_error if too many of them wait already.
void share_call(incoming_call& call);
/// That copy has gone; until then the engine stays.
void unshare_call(incoming_call& call) noexcept;
/// What the calling thread executes is called so in recordings and traces from here on. Without a call that is
/// executed, nothing.
void name_execution(std::string_view name) noexcept;
void name_execution(const msg::handler_entry& function) noexcept;
[[nodiscard]] inline bool wants_reply(const incoming_call& call) noexcept { return call.call != 0xffffffff; }

// ---- batches

struct batch_slot {
  call_slot* slot = nullptr;
  std::uint32_t key = 0;
};
/// Claims a slot and the key for one call of a batch to `to`; connects if need be, until the deadline of `to`. Throws
/// ham::deadline_exceeded, ham::call_error, also if `size`, of its arguments, has more than 32 bits, ham::node_failure.
[[nodiscard]] batch_slot begin_batched(engine& at, const destination& to, msg::handler_entry& function,
                                       std::size_t size, result_decoder decode, batch_owner& owner);
/// Sends `count` records of (key, call id, size, arguments) as one message. If that cannot be done, the slots settle
/// with the error.
void send_batch(engine& at, const destination& to, std::span<const std::byte> records, std::uint32_t count,
                std::span<call_slot* const> calls);

}  // namespace ham::detail
