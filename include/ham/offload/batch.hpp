// Many calls to one node as one message, their results back as one.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "ham/offload/call.hpp"

namespace ham::inline v1::offload {

/// Collects calls and sends them together: the per-message cost is paid once. Not thread-safe, and until submit()
/// neither are its futures: the batch and they belong to one thread, because to wait for one of them submits the batch.
/// It belongs to the runtime that it was made under, or that its destination names. Each add gives a future; it settles
/// when the batch has been answered. Waiting for one of them submits the batch, as do its then(), when_all, when_any
/// and co_await, and the destructor: add first, and go on with the futures afterwards.
class batch : private detail::batch_owner {
 public:
  /// For calls to `to`. Sends nothing. Throws ham::config_error if no runtime is up, or that of `to` has ended.
  explicit batch(destination to) : detail::batch_owner{&submit_owner}, at_(detail::engine_for(to)), to_(to) {}
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch() { submit(); }

  /// Encodes one call into the batch. Errors as async; ham::call_error also for arguments of 4 GiB and more.
  template <class Callable, class... Args>
  requires(!detail::sends_pointers<Callable, Args...>) [[nodiscard]] auto add(Callable&& callable, Args&&... args)
      -> future<detail::result_of_call_t<Callable, Args...>> {
    return encode<std::decay_t<Callable>>(callable, static_cast<Args&&>(args)...);
  }
  template <class Callable, class... Args, class HoldsPointer = detail::pointer_holder_of_call<Callable, Args...>>
  requires detail::sends_pointers<Callable, Args...>
  [[nodiscard]] HAM_WARN_OF_POINTERS auto add(Callable&& callable, Args&&... args)
      -> future<detail::result_of_call_t<Callable, Args...>> {
    return encode<std::decay_t<Callable>>(callable, static_cast<Args&&>(args)...);
  }

  /// Sends all calls added since the last submit. Returns at once. If the message cannot be sent, the futures say why.
  void submit();

  /// Number of calls that wait for submit().
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

  /// Room for this many more calls of about `bytes_each` bytes of arguments.
  void reserve(std::size_t calls, std::size_t bytes_each = 16);

 private:
  static constexpr std::size_t record_head_bytes = 12;

  template <class Callable, class... Args>
  auto encode(const Callable& callable, Args&&... args) -> future<detail::result_of_call_t<Callable, Args...>> {
    using plan = detail::call_plan<Callable, Args...>;
    using result = typename plan::result_type;
    detail::call_slot* slot = nullptr;
    if constexpr (plan::valid) {
      plan::with(
          [&](const auto& core, const auto&... values) {
            slot = append<typename plan::call>(&detail::slot_value<result>::decode, core, values...);
          },
          callable, static_cast<Args&&>(args)...);
    } else {
      [[maybe_unused]] typename plan::report error;
    }
    return detail::future_access::make<result>(slot);
  }

  template <class Call, class... Params>
  detail::call_slot* append(detail::result_decoder decode, const typename Call::core& callable,
                            const Params&... values) {
    using message = typename Call::message;
#if HAM_CHECK_ADDRESSES
    detail::check_addresses(at_, to_, callable, values...);
#endif
    const std::size_t size = message::size(callable, values...);
    msg::writer target(begin_record(message::entry(), decode, size), size);
    HAM_TRY {
      detail::refuse_old_handles(at_, callable, values...);
      message::encode(target, callable, values...);
      target.expect_full();
    }
    HAM_CATCH_ALL {
      drop_record(size);
      HAM_RETHROW;
    }
    return slots_.back();
  }

  /// Claims a slot and makes room for a call, whose arguments are to be written to where the result points.
  [[nodiscard]] std::byte* begin_record(msg::handler_entry& function, detail::result_decoder decode, std::size_t size) {
    const detail::batch_slot claimed = detail::begin_batched(at_, to_, function, size, decode, *this);
    const std::size_t before = records_.size();
    HAM_TRY {
      records_.resize(before + record_head_bytes + size);
      slots_.push_back(claimed.slot);
    }
    HAM_CATCH_ALL {
      records_.resize(before);
      claimed.slot->in_batch = false;
      detail::release_slot(*claimed.slot);
      HAM_RETHROW;
    }
    msg::writer head(records_.data() + before, record_head_bytes);
    head.number(claimed.key);
    head.number(claimed.slot->id.load(std::memory_order_relaxed));
    head.number(static_cast<std::uint32_t>(size));
    return records_.data() + before + record_head_bytes;
  }
  /// Takes the last one back.
  void drop_record(std::size_t size) noexcept;

  static void submit_owner(detail::batch_owner& self);

  detail::engine& at_;
  std::uint64_t runtime_ = detail::serial_of(at_);
  destination to_;
  std::vector<std::byte> records_;
  std::vector<detail::call_slot*> slots_;
};

}  // namespace ham::offload
