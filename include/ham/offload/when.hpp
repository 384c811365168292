// Waiting for several futures at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/offload/future.hpp"

namespace ham::inline v1::offload {

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

template <class Type>
inline constexpr bool is_future_v = false;
template <class Result>
inline constexpr bool is_future_v<future<Result>> = true;
template <class Element>
struct result_of_future;
template <class Result>
struct result_of_future<future<Result>> {
  using type = Result;
};

/// A list, an array, ... of futures.
template <class Range>
concept range_of_futures = requires(Range& futures) {
  std::begin(futures) != std::end(futures);
  requires is_future_v<std::remove_cvref_t<decltype(*std::begin(futures))>>;
};

/// The same for a race that owns its futures: they are handed over when one has settled and all are attached.
template <class Result, class All>
class owned_race {
 public:
  struct runner : continuation {
    owned_race* of = nullptr;
    std::size_t index = 0;
  };

  owned_race(call_slot& result, std::vector<future<Result>> futures)
      : result_(result), futures_(std::move(futures)), runners_(futures_.size()), left_(futures_.size() + 1) {}

  /// Once, by the maker. It may be gone afterwards.
  void start() {
    const std::size_t count = futures_.size();
    for (std::size_t index = 0; index < count; ++index) {
      runner& one = runners_[index];
      one.of = this;
      one.index = index;
      one.run = [](continuation* self) {
        auto& mine = *static_cast<runner*>(self);
        mine.of->arrive(mine.index);
      };
      future_access::on_settled(futures_[index], &one);
    }
    pass();
    leave();
  }

 private:
  void arrive(std::size_t index) {
    std::size_t none = no_winner;
    if (winner_.compare_exchange_strong(none, index)) pass();
    leave();
  }
  /// The first winner and the maker; the second of the two settles.
  void pass() {
    if (awaited_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    fulfil<All>(result_, [this] { return All{winner_.load(), std::move(futures_)}; });
  }
  void leave() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  static constexpr std::size_t no_winner = SIZE_MAX;
  call_slot& result_;
  std::vector<future<Result>> futures_;
  std::vector<runner> runners_;
  std::atomic<std::size_t> winner_{no_winner};
  std::atomic<int> awaited_{2};
  std::atomic<std::size_t> left_;
};

/// Before anything is attached: what has begun to wait for some of them could not be taken back.
void require_results(bool all_valid);
template <class Result>
void require_results(const std::vector<future<Result>>& futures) {
  for (const future<Result>& one : futures) require_results(one.valid());
}
/// The runtime of these futures, which are valid: of the first one, which is where the result is waited for; of the
/// calling thread if there are none.
template <class Result>
[[nodiscard]] engine& runtime_of(const std::vector<future<Result>>& futures) {
  return futures.empty() ? current() : future_access::runtime(futures.front());
}
[[nodiscard]] inline engine& runtime_of_all() { return current(); }
template <class First, class... Others>
[[nodiscard]] engine& runtime_of_all(const future<First>& first, const future<Others>&...) {
  return future_access::runtime(first);
}

[[noreturn]] void throw_no_futures();

/// Of several futures the first to settle decides; the race goes when the last one has settled.
struct race;
[[nodiscard]] race* start_race(engine& at, std::size_t runners);
[[nodiscard]] call_slot* result_of(race& all) noexcept;
[[nodiscard]] continuation* runner_of(race& all, std::size_t index) noexcept;

}  // namespace detail

/// A future of all these futures, settled when each of them has settled (with a value or an error, see get() of each).
/// It belongs to the runtime of the first of them, whatever runtime the calling thread works for; of none, to that.
/// Waiting for it makes progress of that runtime. Throws ham::error if one of them is not valid,
/// or if that runtime has ended.
template <class Result>
[[nodiscard]] future<std::vector<future<Result>>> when_all(std::vector<future<Result>> futures) {
  detail::require_results(futures);
  using all = std::vector<future<Result>>;
  detail::call_slot* const result = detail::make_local_slot(detail::runtime_of(futures));
  const std::size_t count = futures.size();
  auto* const counter = new detail::countdown(count, detail::hand_over<all>{result, std::move(futures)});
  for (std::size_t index = 0; index < count; ++index)
    detail::future_access::on_settled(counter->finish().futures[index], counter->mark(index));
  counter->arrived();
  return detail::future_access::make<all>(result);
}

/// The same for futures of different types.
template <class... Result>
[[nodiscard]] future<std::tuple<future<Result>...>> when_all(future<Result>... futures) {
  detail::require_results((futures.valid() && ...));
  using all = std::tuple<future<Result>...>;
  detail::call_slot* const result = detail::make_local_slot(detail::runtime_of_all(futures...));
  auto* const counter =
      new detail::countdown(sizeof...(Result), detail::hand_over<all>{result, {std::move(futures)...}});
  std::apply(
      [&](auto&... each) {
        std::size_t index = 0;
        (detail::future_access::on_settled(each, counter->mark(index++)), ...);
      },
      counter->finish().futures);
  counter->arrived();
  return detail::future_access::make<all>(result);
}

/// The same for the futures of a tuple.
template <class... Result>
[[nodiscard]] future<std::tuple<future<Result>...>> when_all(std::tuple<future<Result>...>&& futures) {
  return std::apply([](auto&... each) { return when_all(std::move(each)...); }, futures);
}

/// The same for the futures of any other range, which are moved out of it: when_all(std::move(list)).
template <detail::range_of_futures Range>
requires(!std::is_reference_v<Range> && !std::is_const_v<Range>) [[nodiscard]] auto when_all(Range&& futures) {
  using one = std::remove_cvref_t<decltype(*std::begin(futures))>;
  std::vector<one> all;
  for (one& each : futures) all.push_back(std::move(each));
  return when_all(std::move(all));
}

/// Which of several futures has settled first, and all of them.
template <class Result>
struct when_any_result {
  std::size_t index = 0;                ///< of the first that has settled, among `futures`
  std::vector<future<Result>> futures;  ///< all of them, in their order; others may not have settled yet
};

/// A future of the index of the first of these futures to settle, together with the futures, which it owns meanwhile.
/// Of the runtime of the first one, as when_all. Throws ham::error if there are none, or one is not valid.
template <class Result>
[[nodiscard]] future<when_any_result<Result>> when_any(std::vector<future<Result>>&& futures) {
  if (futures.empty()) detail::throw_no_futures();
  detail::require_results(futures);
  using all = when_any_result<Result>;
  detail::call_slot* const result = detail::make_local_slot(detail::runtime_of(futures));
  auto winner = detail::future_access::make<all>(result);
  (new detail::owned_race<Result, all>(*result, std::move(futures)))->start();
  return winner;
}

/// A future of the index of the first of these futures to settle. The vector must live and stay as it is until all its
/// futures have settled.
template <class Result>
[[nodiscard]] future<std::size_t> when_any(std::vector<future<Result>>& futures) {
  if (futures.empty()) detail::throw_no_futures();
  detail::require_results(futures);
  auto* const race = detail::start_race(detail::runtime_of(futures), futures.size());
  auto winner = detail::future_access::make<std::size_t>(detail::result_of(*race));
  for (std::size_t index = 0; index < futures.size(); ++index)
    detail::future_access::on_settled(futures[index], detail::runner_of(*race, index));
  return winner;
}

}  // namespace ham::offload
