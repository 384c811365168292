// Device functions: what a GPU executes, called like any other function, and what such a function may do there.
//
//   HAM_DEVICE double length(ham::offload::buffer_ptr<float> x, std::size_t n) {
//     for (std::size_t i = ham::device::rank(); i < n; i += ham::device::size()) ...
//   }
//   HAM_DEVICE_FUNCTION(length, block)            // by the threads of one block
//
//   double r = ham::offload::sync(gpu, fn<&length>, x, n);
//
// A resident kernel executes the calls, without a launch for each (docs/gpu.md). On a node that is no accelerator the
// same call runs the function as any other, on one thread. Paper 1, Fig. 8: the accelerator is the active side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <utility>

#include "ham/device/print.hpp"
#if defined(__CUDACC__)
#include "ham/device/nvidia/sending_thread.hpp"
#endif
#include "ham/offload/buffer_ptr.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/device_chunk.hpp"
#include "ham/offload/detail/device_group.hpp"
#include "ham/offload/detail/device_message.hpp"

namespace ham::inline v1::device {

namespace detail {

/// Whether a function can be called from a device, and how its arguments travel.
template <class Pointer>
struct host_signature;
template <class Result, class... Params>
struct host_signature<Result (*)(Params...)> {
  using result = std::remove_cv_t<Result>;
  static constexpr bool arguments_fit = (argument<std::decay_t<Params>>::valid && ...) &&
                                        !(argument<std::decay_t<Params>>::varies || ...) &&
                                        min_arguments<std::decay_t<Params>...>() <= max_message;
  static constexpr bool result_fits() noexcept {
    if constexpr (std::is_void_v<result>)
      return true;
    else
      return is_plain<result> && sizeof(result) <= max_answer;
  }
  template <class... Args>
  HAM_DEVICE static void write(argument_writer& to, const Args&... args) {
    static_assert(sizeof...(Args) == sizeof...(Params), "ham: a function is called with another number of arguments");
    (to.put(static_cast<const std::decay_t<Params>&>(static_cast<std::decay_t<Params>>(args))), ...);
  }
};
template <class Result, class... Params>
struct host_signature<Result (*)(Params...) noexcept> : host_signature<Result (*)(Params...)> {};

/// Runs on the host what a device asks for.
template <class Pointer, Pointer Function>
struct host_call;
template <class Result, class... Params, Result (*Function)(Params...)>
struct host_call<Result (*)(Params...), Function> {
  static void run(const std::byte* arguments, std::size_t size, node_t node, const answer_place& answer) {
    argument_reader from(arguments, size);
    start{from, node, answer, from.take(static_cast<std::decay_t<Params>*>(nullptr))...};
  }
  struct start {
    template <class... Values>
    start(const argument_reader& from, node_t node, const answer_place& answer, const Values&... values) {
      using callable = fn_t<Result (*)(Params...), Function>;
      if (!from.ok()) throw protocol_error("a device has called a function with other arguments than it has");
      if (answer.slot == no_answer)
        offload::ping(node, callable{}, values...);
      else
        offload::async(node, callable{}, values...).on_result([answer](auto result) {
          send_answer(answer, std::move(result));
        });
    }
  };

 private:
  template <class Future>
  static void send_answer(const answer_place& answer, Future result) noexcept {
    try {
      if constexpr (std::is_void_v<Result>) {
        result.get();
        answer_device(answer, reinterpret_cast<const std::byte*>(&answer), 0);
      } else {
        const std::remove_cv_t<Result> value = result.get();
        answer_device(answer, reinterpret_cast<const std::byte*>(&value), sizeof value);
      }
    } catch (...) {
      fail_device(answer);
    }
  }
};
template <class Result, class... Params, Result (*Function)(Params...) noexcept>
struct host_call<Result (*)(Params...) noexcept, Function> : host_call<Result (*)(Params...), Function> {};

template <class Pointer, Pointer Function>
inline const host_function registered_host_function{&host_call<Pointer, Function>::run};

#if defined(__CUDACC__) || defined(__HIPCC__)
/// The number of that function, as device code knows it: written by the driver before the kernel begins.
template <class Pointer, Pointer Function>
__device__ std::uint32_t number_on_device = unknown_function;
/// One in each source that such a compiler reads: without -rdc=true each has variables of its own.
template <class Pointer, Pointer Function>
static const bool number_enlisted = enlist_number_variable({&number_on_device<Pointer, Function>,
                                                            &registered_host_function<Pointer, Function>});
#endif

template <class Pointer, Pointer Function>
[[nodiscard]] HAM_DEVICE std::uint32_t host_number() noexcept {
#if HAM_DEVICE_CODE
  return number_on_device<Pointer, Function>;
#else
#if defined(__CUDACC__) || defined(__HIPCC__)
  static_cast<void>(static_cast<const void*>(&number_enlisted<Pointer, Function>));
#endif
  return registered_host_function<Pointer, Function>.number();
#endif
}

/// Sends a call from a device function to its process, and gives the ticket of the message.
template <class Pointer, Pointer Function, class Lane, class... Args>
HAM_DEVICE std::uint64_t post_call(Lane& from, node_t node, std::uint32_t answer, const Args&... args) {
  using signature = host_signature<Pointer>;
  static_assert(signature::arguments_fit,
                "ham: a function that devices call has plain parameters of at most 224 bytes together");
  alignas(max_alignment) std::byte bytes[max_message];
  argument_writer to(bytes);
  signature::write(to, args...);
  message_head head{};
  head.function = host_number<Pointer, Function>();
  head.node = node;
  head.answer = answer;
  head.size = static_cast<std::uint32_t>(to.size());
  return from.post(head, bytes);
}

/// Waits for the answer to the message with that ticket. none: the call that asked is to stop, and it has not come.
template <class Lane>
[[nodiscard]] HAM_DEVICE answer_status wait_for_answer(Lane& here, std::uint32_t slot, std::uint64_t ticket,
                                                       std::byte* bytes, std::size_t size) {
  for (bool goes_on = true;;) {
    const answer_status status = here.take_answer(slot, ticket, bytes, size);
    if (status != answer_status::none || !goes_on) return status;
    goes_on = here.pause();
  }
}

}  // namespace detail

/// The answer to a call that a device function has made. Used by the thread that made it. One that goes gives its place
/// among the 64 back that its block may await.
template <class Result>
class answer {
 public:
  HAM_DEVICE answer(answer&& other) noexcept { take(other); }
  HAM_DEVICE answer& operator=(answer&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  answer(const answer&) = delete;
  answer& operator=(const answer&) = delete;
  HAM_DEVICE ~answer() { drop(); }

  /// Waits for it. False: the call has failed, its answer was taken or moved before, or the function that asks is to
  /// stop and it has not come; `to` is as before.
  [[nodiscard]] HAM_DEVICE bool get(Result& to) {
    alignas(Result) std::byte bytes[sizeof(Result)];
#if HAM_DEVICE_CODE
    if (slot_ == detail::no_answer) return false;
    detail::sending_thread here;
    const detail::answer_status got = detail::wait_for_answer(here, slot_, ticket_, bytes, sizeof bytes);
#else
    if (here_ == nullptr) return take_future(to);
    if (slot_ == detail::no_answer) return false;
    const detail::answer_status got = detail::wait_for_answer(*here_, slot_, ticket_, bytes, sizeof bytes);
#endif
    if (got == detail::answer_status::none) drop();
    slot_ = detail::no_answer;
    if (got != detail::answer_status::value) return false;
    to = *reinterpret_cast<const Result*>(bytes);
    return true;
  }

#if HAM_DEVICE_CODE
  __device__ answer(std::uint32_t slot, std::uint64_t ticket) noexcept : slot_(slot), ticket_(ticket) {}
#else
  answer(detail::lane* here, std::uint32_t slot, std::uint64_t ticket) noexcept
      : slot_(slot), ticket_(ticket), here_(here) {}
  explicit answer(offload::future<Result> of) : future_(std::move(of)) {}
#endif

 private:
  HAM_DEVICE void take(answer& other) noexcept {
    slot_ = other.slot_;
    ticket_ = other.ticket_;
    other.slot_ = detail::no_answer;
#if !HAM_DEVICE_CODE
    here_ = other.here_;
    future_ = std::move(other.future_);
#endif
  }
  HAM_DEVICE void drop() noexcept {
    if (slot_ == detail::no_answer) return;
#if HAM_DEVICE_CODE
    detail::drop_answer(*detail::this_call().sent, slot_);
#else
    here_->drop_answer(slot_);
#endif
  }

  std::uint32_t slot_ = detail::no_answer;  // none: it was taken, or is a future's
  std::uint64_t ticket_ = 0;                // of the message
#if !HAM_DEVICE_CODE
  bool take_future(Result& to) {
    try {
      to = future_.get();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  detail::lane* here_ = nullptr;
  offload::future<Result> future_;
#endif
};

/// From a device function: has `Function` executed by any node, once, and waits for nothing. Calls of one thread arrive
/// in their order. Blocks only while the queue of messages is full, also in a function that is to stop. Plain
/// parameters, at most 224 bytes together. `Function` sees what the device has written to its memory before; what was
/// written to memory of the host or another GPU by pointers of CUDA's own only behind __threadfence_system().
template <auto Function, class... Args>
HAM_DEVICE void ping(node_t node, const Args&... args) {
  using pointer = std::decay_t<decltype(Function)>;
#if HAM_DEVICE_CODE
  detail::sending_thread here;
  detail::post_call<pointer, Function>(here, node, detail::no_answer, args...);
#else
  if (detail::lane* const here = detail::this_lane())
    detail::post_call<pointer, Function>(*here, node, detail::no_answer, args...);
  else
    offload::ping(node, fn<Function>, args...);
#endif
}

/// The same with an answer of at most 56 bytes, of which a block may await 64 at once. If it awaits them already, it
/// waits for one of them; a function that is to stop sends nothing then, and get() is false. Waits for room in the
/// queue of messages, and orders memory, as ping() does.
template <auto Function, class... Args>
[[nodiscard]] HAM_DEVICE auto async(node_t node, const Args&... args) {
  using pointer = std::decay_t<decltype(Function)>;
  using result = typename detail::host_signature<pointer>::result;
  static_assert(!std::is_void_v<result> && detail::host_signature<pointer>::result_fits(),
                "ham: a function that devices call for its answer returns a plain type of at most 56 bytes");
#if HAM_DEVICE_CODE
  detail::sending_thread here;
  const std::uint32_t slot = here.claim_answer();
  if (slot == detail::no_answer) return answer<result>(slot, 0);
  return answer<result>(slot, detail::post_call<pointer, Function>(here, node, slot, args...));
#else
  if (detail::lane* const here = detail::this_lane()) {
    const std::uint32_t slot = here->claim_answer();
    if (slot == detail::no_answer) return answer<result>(here, slot, 0);
    return answer<result>(here, slot, detail::post_call<pointer, Function>(*here, node, slot, args...));
  }
  return answer<result>(offload::async(node, fn<Function>, args...));
#endif
}

/// Prints one line on the stdout of the target process: texts, numbers, bools and characters, one after the other. What
/// is longer than some 200 characters is cut, and ends with "...".
template <class... Parts>
HAM_DEVICE void print(const Parts&... parts) {
  detail::print_writer line;
  (line.put(parts), ...);
  const std::byte* const bytes = line.finish();
  detail::message_head head{};
  head.function = detail::print_function;
  head.answer = detail::no_answer;
  head.size = line.size();
#if HAM_DEVICE_CODE
  detail::sending_thread().post(head, bytes);
#else
  if (detail::lane* const here = detail::this_lane())
    here->post(head, bytes);
  else
    detail::print_here(bytes, line.size());
#endif
}

}  // namespace ham::device
