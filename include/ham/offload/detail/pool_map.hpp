// The elements of offload::pool::map: what a chunk of them is as a call, and where its results go. Internal.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/msg/bind.hpp"
#include "ham/msg/idempotent.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/pool_calls.hpp"

namespace ham::inline v1::offload::detail {

/// Calls the function for each element of a chunk, where that runs.
template <class Result>
struct run_chunk {
  template <class Core, class Item>
  auto operator()(const Core& core, const std::vector<Item>& items) const {
    if constexpr (std::is_void_v<Result>) {
      for (const Item& item : items) core(item);
    } else {
      std::vector<Result> results;
      results.reserve(items.size());
      for (const Item& item : items) results.push_back(static_cast<Result>(core(item)));
      return results;
    }
  }
};

/// The name of the chunks' handler, made of that of the function.
template <std::size_t Size>
consteval msg::key_text<Size + 2> chunk_key(const msg::key_text<Size>& name) {
  char text[Size + 2]{};
  for (std::size_t at = 0; at + 1 < Size; ++at) text[at] = name.text[at];
  text[Size - 1] = '[';
  text[Size] = ']';
  return msg::key_text<Size + 2>(text);
}

/// Makes the callable of a chunk of that of an element; it has the same policy.
template <class Result, class Callable>
struct chunk_maker {
  static auto of(const Callable& callable) { return ham::bind(run_chunk<Result>{}, callable); }
};
template <class Result, msg::key_text Key, class Callable>
struct chunk_maker<Result, named_callable<Key, Callable>> {
  static auto of(const named_callable<Key, Callable>& callable) {
    return named<chunk_key(Key)>(chunk_maker<Result, Callable>::of(callable.callable));
  }
};
template <class Result, template <class> class Policy, class Callable>
struct chunk_maker<Result, policy_callable<Policy, Callable>> {
  static auto of(const policy_callable<Policy, Callable>& callable) {
    return with_policy<Policy>(chunk_maker<Result, Callable>::of(callable.callable));
  }
};
template <class Result, class Callable>
struct chunk_maker<Result, idempotent_callable<Callable>> {
  static auto of(const idempotent_callable<Callable>& callable) {
    return chunk_maker<Result, Callable>::of(callable.callable);
  }
};

/// The elements of a range: those in memory stay where they are, others are copied.
template <class Range>
class map_items {
 public:
  using item = std::ranges::range_value_t<Range>;
  static constexpr bool stay = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;

  explicit map_items(Range& range) {
    if constexpr (stay) {
      items_ = std::span<const item>(std::ranges::data(range), std::ranges::size(range));
    } else {
      for (auto&& each : range) items_.emplace_back(static_cast<decltype(each)&&>(each));
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] auto begin() const noexcept { return items_.begin(); }

 private:
  std::conditional_t<stay, std::span<const item>, std::vector<item>> items_;
};

/// One map, on the stack of its thread. Calls sink(index, result), or sink(index), for each element.
template <class Items, class Callable, class Result, class Sink>
class mapping final : public map_chunks {
  using item = typename Items::item;
  using maker = chunk_maker<Result, Callable>;
  using chunk_callable = decltype(maker::of(std::declval<const Callable&>()));
  using reply = result_of_call_t<chunk_callable, std::vector<item>>;

 public:
  mapping(const Items& items, const Callable& callable, Sink& sink)
      : items_(items), callable_(maker::of(callable)), sink_(sink) {}

  [[nodiscard]] std::size_t fit(std::size_t begin, std::size_t end, std::size_t max_bytes) const override {
    if constexpr (msg::crosses<item>) {
      std::size_t bytes = 0;
      for (std::size_t at = begin; at < end; ++at) {
        bytes += msg::encoded_size(static_cast<const item&>(*iterator(at)));
        if (bytes > max_bytes && at != begin) return at;
      }
    }
    return end;
  }
  [[nodiscard]] call_slot* send(const destination& to, std::size_t begin, std::size_t end) override {
    const std::vector<item> part(iterator(begin), iterator(end));
    auto made = start_call<chunk_callable>(to, when_full::wait, callable_, part);
    return future_access::release(made);
  }
  void receive(call_slot& answer, std::size_t begin, std::size_t end) override {
    auto settled = future_access::make<reply>(&answer);
    if constexpr (std::is_void_v<Result>) {
      settled.get();
      for (std::size_t at = begin; at < end; ++at) sink_(at);
    } else {
      reply results = settled.get();
      if (results.size() != end - begin) throw_wrong_count(results.size(), end - begin);
      for (std::size_t at = begin; at < end; ++at) sink_(at, static_cast<Result>(std::move(results[at - begin])));
    }
  }
  void drop(call_slot& answer) noexcept override { static_cast<void>(future_access::make<reply>(&answer)); }

 private:
  [[nodiscard]] auto iterator(std::size_t at) const noexcept {
    return items_.begin() + static_cast<std::ptrdiff_t>(at);
  }

  const Items& items_;
  const chunk_callable callable_;
  Sink& sink_;
};

}  // namespace ham::offload::detail
