// Many calls to one node as one message, their results back as one.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "ham/offload/call.hpp"

namespace ham::offload {

/// Collects calls and sends them together: the per-message cost is paid once. Not thread-safe, and until submit()
/// neither are its futures: the batch and they belong to one thread, because to wait for one of them submits the batch.
/// Each add gives a future; it settles when the batch has been answered. Waiting for one of them submits the batch, as
/// do its then(), when_all, when_any and co_await, and the destructor: add first, and go on with the futures
/// afterwards.
class batch : private detail::batch_owner {
 public:
  explicit batch(destination to) : detail::batch_owner{&submit_owner}, to_(to) {}
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch() { submit(); }

  /// Encodes one call into the batch. Errors as async.
  template <class Callable, class... Args>
  [[nodiscard]] auto add(Callable&& callable, Args&&... args) -> future<detail::result_of_call_t<Callable, Args...>> {
    using result = detail::result_of_call_t<Callable, Args...>;
    detail::call_slot* slot = nullptr;
    detail::with_call(
        [&]<class Call>(std::type_identity<Call>, const auto& core, const auto&... values) {
          slot = append<Call>(&detail::slot_value<result>::decode, core, values...);
        },
        callable, std::forward<Args>(args)...);
    return future<result>(slot);
  }

  /// Sends all calls added since the last submit. Returns at once. If the message cannot be sent, the futures say why.
  void submit() {
    if (slots_.empty()) return;
    if (detail::is_up(runtime_))  // else all of them have settled at its end
      detail::send_batch(at_, to_, records_, static_cast<std::uint32_t>(slots_.size()), slots_);
    records_.clear();
    slots_.clear();
  }

  /// Number of calls that wait for submit().
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

  /// Room for this many more calls of about `bytes_each` bytes of arguments.
  void reserve(std::size_t calls, std::size_t bytes_each = 16) {
    slots_.reserve(slots_.size() + calls);
    records_.reserve(records_.size() + calls * (record_head_bytes + bytes_each));
  }

 private:
  static constexpr std::size_t record_head_bytes = 12;

  template <class Call, class... Params>
  detail::call_slot* append(detail::result_decoder decode, const typename Call::core& callable,
                            const Params&... values) {
    using message = typename Call::message;
    const std::size_t size = message::size(callable, values...);
    const detail::batch_slot claimed = detail::begin_batched(at_, to_.node, message::entry(), decode, *this);
    const std::size_t before = records_.size();
    try {
      slots_.push_back(claimed.slot);
      records_.resize(before + record_head_bytes + size);
      msg::writer target(records_.data() + before, record_head_bytes + size);
      target.number(claimed.key);
      target.number(claimed.slot->id.load(std::memory_order_relaxed));
      target.number(static_cast<std::uint32_t>(size));
      message::encode(target, callable, values...);
      target.expect_full();
    } catch (...) {
      records_.resize(before);
      if (!slots_.empty() && slots_.back() == claimed.slot) slots_.pop_back();
      claimed.slot->in_batch = false;
      detail::release_slot(*claimed.slot);
      throw;
    }
    return claimed.slot;
  }

  static void submit_owner(detail::batch_owner& self) { static_cast<batch&>(self).submit(); }

  detail::engine& at_ = detail::current();
  std::uint64_t runtime_ = detail::serial_of(at_);
  destination to_;
  std::vector<std::byte> records_;
  std::vector<detail::call_slot*> slots_;
};

}  // namespace ham::offload
