// Waiting for several futures at once.
#pragma once

#include <atomic>
#include <cstddef>
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
  [[nodiscard]] Finish& finish() noexcept { return finish_; }
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

/// Gives a slot the futures, all settled, as its value.
template <class All>
struct hand_over {
  void operator()() {
    fulfil<All>(*result, [this]() -> All&& { return std::move(futures); });
  }
  call_slot* result;
  All futures;
};

/// Before anything is attached: what has begun to wait for some of them could not be taken back.
void require_results(bool all_valid);
template <class Result>
void require_results(const std::vector<future<Result>>& futures) {
  for (const future<Result>& one : futures) require_results(one.valid());
}

/// Of several futures the first to settle decides; the race goes when the last one has settled.
struct race;
[[nodiscard]] race* start_race(std::size_t runners);
[[nodiscard]] call_slot* result_of(race& all) noexcept;
[[nodiscard]] continuation* runner_of(race& all, std::size_t index) noexcept;

}  // namespace detail

/// A future of all these futures, settled when each of them has settled (with a value or an error, see get() of each).
/// Throws ham::error if one of them is not valid.
template <class Result>
[[nodiscard]] future<std::vector<future<Result>>> when_all(std::vector<future<Result>> futures) {
  detail::require_results(futures);
  using all = std::vector<future<Result>>;
  detail::call_slot* const result = detail::make_local_slot(detail::current());
  const std::size_t count = futures.size();
  auto* const counter = new detail::countdown(count, detail::hand_over<all>{result, std::move(futures)});
  for (std::size_t index = 0; index < count; ++index) counter->finish().futures[index].on_settled(counter->mark(index));
  counter->arrived();
  return future<all>(result);
}

/// The same for futures of different types.
template <class... Result>
[[nodiscard]] future<std::tuple<future<Result>...>> when_all(future<Result>... futures) {
  detail::require_results((futures.valid() && ...));
  using all = std::tuple<future<Result>...>;
  detail::call_slot* const result = detail::make_local_slot(detail::current());
  auto* const counter =
      new detail::countdown(sizeof...(Result), detail::hand_over<all>{result, {std::move(futures)...}});
  std::apply(
      [&](auto&... each) {
        std::size_t index = 0;
        (each.on_settled(counter->mark(index++)), ...);
      },
      counter->finish().futures);
  counter->arrived();
  return future<all>(result);
}

/// A future of the index of the first of these futures to settle. The vector must live and stay as it is until all its
/// futures have settled.
template <class Result>
[[nodiscard]] future<std::size_t> when_any(std::vector<future<Result>>& futures) {
  if (futures.empty()) throw error("when_any of no futures (none could ever settle) pass at least one");
  detail::require_results(futures);
  auto* const race = detail::start_race(futures.size());
  future<std::size_t> winner(detail::result_of(*race));
  for (std::size_t index = 0; index < futures.size(); ++index)
    futures[index].on_settled(detail::runner_of(*race, index));
  return winner;
}

}  // namespace ham::offload
