// Waiting for several futures at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "ham/offload/future.hpp"

namespace ham::offload {

namespace detail {

/// Counts settled futures down and calls `finish` at zero. One continuation per future, all owned here.
template <class Finish>
class countdown {
 public:
  countdown(std::size_t count, Finish finish) : left_(count + 1), finish_(std::move(finish)), marks_(count) {}

  [[nodiscard]] continuation* mark(std::size_t index) {
    marks_[index].owner = this;
    marks_[index].run = [](continuation* self) { static_cast<one*>(self)->owner->arrived(); };
    return &marks_[index];
  }
  /// Once per future, and once by the maker when all are attached.
  void arrived() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    finish_();
    delete this;
  }

 private:
  struct one : continuation {
    countdown* owner = nullptr;
  };
  std::atomic<std::size_t> left_;
  Finish finish_;
  std::vector<one> marks_;
};

/// Before anything is attached: what has begun to wait for some of them could not be taken back.
inline void require_results(bool all_valid) {
  if (!all_valid)
    throw error(
        "one of these futures has no result (it was default-constructed, moved from, or read already); take it "
        "out before");
}
template <class Result>
void require_results(const std::vector<future<Result>>& futures) {
  require_results(std::all_of(futures.begin(), futures.end(), [](const future<Result>& one) { return one.valid(); }));
}

}  // namespace detail

/// A future of all these futures, settled when each of them has settled (with a value or an error, see get() of each).
/// Throws ham::error if one of them is not valid.
template <class Result>
[[nodiscard]] future<std::vector<future<Result>>> when_all(std::vector<future<Result>> futures) {
  detail::require_results(futures);
  using all = std::vector<future<Result>>;
  detail::call_slot* const result = detail::make_local_slot(detail::current());
  auto kept = std::make_shared<all>(std::move(futures));
  const auto finish = [result, kept] { detail::fulfil<all>(*result, [&] { return std::move(*kept); }); };
  auto* const counter = new detail::countdown<decltype(finish)>(kept->size(), finish);
  for (std::size_t index = 0; index < kept->size(); ++index) (*kept)[index].on_settled(counter->mark(index));
  counter->arrived();
  return future<all>(result);
}

/// The same for futures of different types.
template <class... Result>
[[nodiscard]] future<std::tuple<future<Result>...>> when_all(future<Result>... futures) {
  detail::require_results((futures.valid() && ...));
  using all = std::tuple<future<Result>...>;
  detail::call_slot* const result = detail::make_local_slot(detail::current());
  auto kept = std::make_shared<all>(std::move(futures)...);
  const auto finish = [result, kept] { detail::fulfil<all>(*result, [&] { return std::move(*kept); }); };
  auto* const counter = new detail::countdown<decltype(finish)>(sizeof...(Result), finish);
  std::apply(
      [&](auto&... each) {
        std::size_t index = 0;
        (each.on_settled(counter->mark(index++)), ...);
      },
      *kept);
  counter->arrived();
  return future<all>(result);
}

/// A future of the index of the first of these futures to settle. The vector must live and stay as it is until all its
/// futures have settled.
template <class Result>
[[nodiscard]] future<std::size_t> when_any(std::vector<future<Result>>& futures) {
  struct race {
    std::atomic<bool> decided{false};
    detail::call_slot* result;
  };
  struct runner : detail::continuation {
    std::shared_ptr<race> shared;
    std::size_t index = 0;
  };
  if (futures.empty()) throw error("when_any of no futures (none could ever settle) pass at least one");
  detail::require_results(futures);
  auto shared = std::make_shared<race>();
  shared->result = detail::make_local_slot(detail::current());
  for (std::size_t index = 0; index < futures.size(); ++index) {
    auto* const one = new runner;
    one->shared = shared;
    one->index = index;
    one->run = [](detail::continuation* self) {
      const std::unique_ptr<runner> me(static_cast<runner*>(self));
      if (me->shared->decided.exchange(true)) return;
      detail::fulfil<std::size_t>(*me->shared->result, [&] { return me->index; });
    };
    futures[index].on_settled(one);
  }
  return future<std::size_t>(shared->result);
}

}  // namespace ham::offload
