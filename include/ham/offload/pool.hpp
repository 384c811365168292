// A pool of nodes: tasks go to the node that has the fewest.
//
//   offload::pool workers{{1, 2, 3}};
//   auto one = workers.async(fn<&solve>, problem);
//   std::vector<double> all = workers.map(problems, fn<&solve>);
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/offload/call.hpp"
#include "ham/offload/detail/pool_state.hpp"
#include "ham/offload/node.hpp"

namespace ham {

/// A callable that may run more than once; see idempotent().
template <class Callable>
struct idempotent_callable {
  [[no_unique_address]] Callable callable;

  template <class... Args>
  requires std::is_invocable_v<const Callable&, Args...>
  constexpr std::invoke_result_t<const Callable&, Args...> operator()(Args&&... args) const {
    return callable(static_cast<Args&&>(args)...);
  }
};

/// Says that to run the callable twice does the same as to run it once. A pool then repeats its calls on another node
/// when theirs is lost, even if they may have run.
template <class Callable>
[[nodiscard]] constexpr idempotent_callable<std::decay_t<Callable>> idempotent(Callable&& callable) {
  return {static_cast<Callable&&>(callable)};
}

namespace msg {
template <class Callable>
struct callable_traits<idempotent_callable<Callable>> : callable_traits<Callable> {
  static constexpr const typename callable_traits<Callable>::core_type& core(
      const idempotent_callable<Callable>& callable) noexcept {
    return callable_traits<Callable>::core(callable.callable);
  }
};
}  // namespace msg

namespace offload {

struct pool_options {
  std::size_t per_node = 32;  ///< tasks that a node may have, running and waiting
};

struct map_options {
  std::size_t chunk = 0;  ///< elements of one message; 0: many at first, fewer towards the end
  /// Called on the thread of map() after each chunk.
  std::function<void(std::size_t done, std::size_t total)> on_progress{};
};

namespace detail {

template <class Callable>
struct without_idempotent {
  using type = Callable;
  static constexpr bool may_repeat = false;
  static const Callable& of(const Callable& callable) noexcept { return callable; }
};
template <class Callable>
struct without_idempotent<idempotent_callable<Callable>> {
  using type = Callable;
  static constexpr bool may_repeat = true;
  static const Callable& of(const idempotent_callable<Callable>& callable) noexcept { return callable.callable; }
};

/// A task that goes to another node when its own is lost. Owns itself.
template <class Callable, class Result, class... Args>
struct repeated_task : continuation {
  repeated_task(std::shared_ptr<pool_state> with, call_slot& to, const Callable& what, Args... values)
      : state(std::move(with)), target(to), callable(what), args(std::move(values)...) {
    run = [](continuation* self) { static_cast<repeated_task*>(self)->settled(); };
  }
  /// Throws if no node is left, or it cannot be sent at all.
  void send(std::size_t first) {
    for (std::optional<std::size_t> entered = first;; entered.reset()) {
      place.emplace(state, entered ? *entered : state->enter());
      HAM_TRY {
        current = std::apply([&](const Args&... each) { return async(place->node(), callable, each...); }, args);
        break;
      }
      HAM_CATCH_ALL {
        const std::exception_ptr why = std::current_exception();
        if (!is_loss_of(why, place->node())) HAM_RETHROW;
        place->exclude(why);
      }
    }
    current.on_settled(this);
  }
  void settled() noexcept {
    std::exception_ptr why = current.error();
    if (why != nullptr && is_loss_of(why, place->node())) {
      place->exclude(why);
      place.reset();
      HAM_TRY {
        send(state->enter());
        return;
      }
      HAM_CATCH_ALL { why = std::current_exception(); }
      fail_local(target, std::move(why));
    } else {
      place.reset();
      fulfil<Result>(target, [this]() -> Result { return current.get(); });
    }
    delete this;
  }

  std::shared_ptr<pool_state> state;
  call_slot& target;
  Callable callable;
  std::tuple<Args...> args;
  std::optional<pool_place> place{};
  future<Result> current{};
};

/// A chunk of a map, where it runs.
template <class Result, class Item, class Callable>
auto run_chunk(const Callable& callable, const std::vector<Item>& items) {
  if constexpr (std::is_void_v<Result>) {
    for (const Item& item : items) callable(item);
  } else {
    std::vector<Result> results;
    results.reserve(items.size());
    for (const Item& item : items) results.push_back(callable(item));
    return results;
  }
}

/// Chunks that have settled.
class settled_chunks {
 public:
  void add(std::size_t place, pool_state& of) {
    {
      std::lock_guard guard(mutex_);
      settled_.push_back(place);
    }
    of.notify();
  }
  [[nodiscard]] bool any() const {
    std::lock_guard guard(mutex_);
    return !settled_.empty();
  }
  [[nodiscard]] std::vector<std::size_t> take() {
    std::lock_guard guard(mutex_);
    return std::exchange(settled_, {});
  }
  void reserve(std::size_t count) { settled_.reserve(count); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::size_t> settled_;
};

}  // namespace detail

/// Nodes that share work. A task goes to the living node that has the fewest tasks of this pool. All members may be
/// called from any thread, and from several at once. The runtime must outlive it.
///
/// A node that is lost gets no more tasks. Those that it had fail with ham::node_failure, unless they are marked
/// idempotent(): then they run on another node. A task of which nothing was sent goes to another one in any case. When
/// no node is left, the error of the last one is thrown.
class pool {
 public:
  /// All nodes but this one, as they are now. Throws ham::config_error if there are none.
  explicit pool(pool_options options = {}) : pool(detail::all_others(), options) {}
  explicit pool(std::vector<node_t> nodes, pool_options options = {})
      : state_(std::make_shared<detail::pool_state>(detail::current(), std::move(nodes), options.per_node)) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// Waits until all tasks have settled; their futures stay valid.
  ~pool() { state_->await_idle(); }

  /// Starts callable(args...) on the least busy node. Waits, and makes progress, while all nodes have `per_node` tasks.
  /// Errors as offload::async.
  template <class Callable, class... Args>
  [[nodiscard]] auto async(const Callable& callable, const Args&... args)
      -> future<detail::result_of_call_t<typename detail::without_idempotent<Callable>::type, const Args&...>> {
    return start(state_->enter(), callable, args...);
  }

  /// The same, but gives nothing at once if all nodes have `per_node` tasks.
  template <class Callable, class... Args>
  [[nodiscard]] auto try_async(const Callable& callable, const Args&... args) -> std::optional<
      future<detail::result_of_call_t<typename detail::without_idempotent<Callable>::type, const Args&...>>> {
    const std::size_t place = state_->try_enter(state_->per_node());
    if (place == detail::pool_state::none) return std::nullopt;
    return start(place, callable, args...);
  }

  /// Calls callable(element) for each element, in chunks of one message each, and gives the results in the order of the
  /// range. Blocks, and makes progress. The first error is thrown when what is under way has settled; then no more
  /// chunks are sent. Elements and results cross; a chunk must fit a message.
  template <std::ranges::input_range Range, class Callable>
  auto map(Range&& range, const Callable& callable, const map_options& options = {}) {
    using item = std::ranges::range_value_t<Range>;
    using result = mapped<Callable, item>;
    std::vector<item> items = collect<item>(range);
    if constexpr (std::is_void_v<result>) {
      run_map<result>(items, callable, options, [](std::size_t) {});
    } else {
      std::vector<std::optional<result>> found(items.size());
      run_map<result>(items, callable, options,
                      [&found](std::size_t at, result&& value) { found[at].emplace(std::move(value)); });
      std::vector<result> results;
      results.reserve(found.size());
      for (std::optional<result>& one : found) results.push_back(*std::move(one));
      return results;
    }
  }

  /// The same, with sink(index, result) called on this thread for each result as its chunk comes.
  template <std::ranges::input_range Range, class Callable, class Sink>
  requires(!std::is_convertible_v<Sink, map_options>) void map(Range&& range, const Callable& callable, Sink&& sink,
                                                               const map_options& options = {}) {
    using item = std::ranges::range_value_t<Range>;
    std::vector<item> items = collect<item>(range);
    run_map<mapped<Callable, item>>(items, callable, options, sink);
  }

  /// Tasks under way, and nodes that are not lost.
  [[nodiscard]] std::size_t busy() const { return state_->busy(); }
  [[nodiscard]] std::size_t living() const { return state_->living(); }

 private:
  template <class Callable, class Item>
  using mapped = std::remove_cvref_t<std::invoke_result_t<const Callable&, const Item&>>;

  template <class Item, class Range>
  static std::vector<Item> collect(Range& range) {
    std::vector<Item> items;
    for (auto&& each : range) items.emplace_back(static_cast<decltype(each)&&>(each));
    return items;
  }

  struct counted : detail::continuation {
    explicit counted(detail::pool_place what) : place(std::move(what)) {
      run = [](detail::continuation* self) { delete static_cast<counted*>(self); };
    }
    detail::pool_place place;
  };

  template <class Callable, class... Args>
  auto start(std::size_t place, const Callable& callable, const Args&... args) {
    using bare = detail::without_idempotent<Callable>;
    using result = detail::result_of_call_t<typename bare::type, const Args&...>;
    if constexpr (bare::may_repeat) {
      detail::pool_place held(state_, place);
      detail::call_slot* const slot = detail::make_local_slot(detail::current());
      future<result> made(slot);
      using task_type = detail::repeated_task<typename bare::type, result, Args...>;
      HAM_TRY {
        auto task = std::make_unique<task_type>(state_, *slot, bare::of(callable), args...);
        { const detail::pool_place released(std::move(held)); }
        task->send(state_->enter());
        static_cast<void>(task.release());
      }
      HAM_CATCH_ALL {
        detail::fail_local(*slot, std::current_exception());
        static_cast<void>(made.has_value());  // it is thrown here
        HAM_RETHROW;
      }
      return made;
    } else {
      for (;; place = state_->enter()) {
        detail::pool_place held(state_, place);
        HAM_TRY {
          future<result> made = offload::async(held.node(), callable, args...);
          made.on_settled(new counted(std::move(held)));
          return made;
        }
        HAM_CATCH_ALL {
          const std::exception_ptr why = std::current_exception();
          if (!detail::is_loss_of(why, held.node())) HAM_RETHROW;
          held.exclude(why);
        }
      }
    }
  }

  template <class Result, class Item, class Callable, class Sink>
  class mapping;

  template <class Result, class Item, class Callable, class Sink>
  void run_map(const std::vector<Item>& items, const Callable& callable, const map_options& options, Sink&& sink) {
    using bare = detail::without_idempotent<Callable>;
    mapping<Result, Item, typename bare::type, std::remove_reference_t<Sink>> all(*state_, items, bare::of(callable),
                                                                                  bare::may_repeat, options, sink);
    all.run();
  }

  std::shared_ptr<detail::pool_state> state_;
};

/// One map, on the stack of its thread.
template <class Result, class Item, class Callable, class Sink>
class pool::mapping {
 public:
  mapping(detail::pool_state& with, const std::vector<Item>& what, const Callable& callable, bool repeat,
          const map_options& how, Sink& to)
      : state_(with), items_(what), callable_(callable), may_repeat_(repeat), options_(how), sink_(to) {}

  void run() {
    while (flying_ != 0 || (failure_ == nullptr && (next_ < items_.size() || !again_.empty()))) {
      HAM_TRY { send_what_fits(); }
      HAM_CATCH_ALL { fail(std::current_exception()); }
      if (flying_ == 0 && failure_ != nullptr) break;
      state_.await([this] { return settled_.any() || (flying_ == 0 && state_.busy() < state_.living() * per_node); });
      for (const std::size_t place : settled_.take()) collect(chunks_[place]);
    }
    if (failure_ != nullptr) detail::rethrow(failure_);
  }

 private:
  static constexpr std::size_t per_node = 2;  // the second one waits there while the first one runs
  static constexpr std::size_t max_chunk_bytes = std::size_t{1} << 20;
  using reply = std::conditional_t<std::is_void_v<Result>, void,
                                   std::vector<std::conditional_t<std::is_void_v<Result>, int, Result>>>;

  struct chunk : detail::continuation {
    mapping* of = nullptr;
    std::size_t number = 0, begin = 0, end = 0, place = 0;
    future<reply> answer{};
  };

  void send_what_fits() {
    while (failure_ == nullptr && (next_ < items_.size() || !again_.empty())) {
      const std::size_t place = state_.try_enter(per_node);
      if (place == detail::pool_state::none) return;
      send(place);
    }
  }
  void send(std::size_t place) {
    const bool repeated = !again_.empty();
    std::pair<std::size_t, std::size_t> part{next_, next_ + next_size()};
    if (repeated) part = again_.back();
    chunk* one = nullptr;
    HAM_TRY {
      one = &free_chunk();
      one->begin = part.first;
      one->end = part.second;
      one->place = place;
      const std::vector<Item> part_items(items_.begin() + static_cast<std::ptrdiff_t>(part.first),
                                         items_.begin() + static_cast<std::ptrdiff_t>(part.second));
      one->answer =
          offload::async(state_.node(place), fn<&detail::run_chunk<Result, Item, Callable>>, callable_, part_items);
    }
    HAM_CATCH_ALL {
      if (one != nullptr) free_.push_back(one->number);
      state_.leave(place);
      const std::exception_ptr why = std::current_exception();
      if (!detail::is_loss_of(why, state_.node(place))) HAM_RETHROW;
      state_.exclude(place, why);
      return;
    }
    ++flying_;
    if (repeated)
      again_.pop_back();
    else
      next_ = part.second;
    one->answer.on_settled(one);
  }
  /// A third of its share of what is left: nodes end at about the same time, however fast they are.
  [[nodiscard]] std::size_t next_size() const noexcept {
    const std::size_t left = items_.size() - next_;
    if (options_.chunk != 0) return std::min(options_.chunk, left);
    const std::size_t largest = std::max<std::size_t>(1, max_chunk_bytes / sizeof(Item));
    return std::clamp<std::size_t>(left / (3 * state_.size()), 1, largest);
  }
  [[nodiscard]] chunk& free_chunk() {
    if (free_.empty()) {
      chunk& made = chunks_.emplace_back();
      made.of = this;
      made.number = chunks_.size() - 1;
      made.run = [](detail::continuation* self) {
        auto& one = *static_cast<chunk*>(self);
        detail::pool_state& state = one.of->state_;
        state.leave(one.place);
        one.of->settled_.add(one.number, state);
      };
      settled_.reserve(chunks_.size());
      free_.reserve(chunks_.size());
      return made;
    }
    chunk& one = chunks_[free_.back()];
    free_.pop_back();
    return one;
  }
  void collect(chunk& one) {
    --flying_;
    free_.push_back(one.number);
    if (std::exception_ptr why = one.answer.error(); why != nullptr) {
      one.answer = {};
      const bool lost = detail::is_loss_of(why, state_.node(one.place));
      if (lost) state_.exclude(one.place, why);
      if (lost && may_repeat_)
        again_.emplace_back(one.begin, one.end);
      else
        fail(std::move(why));
      return;
    }
    HAM_TRY { hand_over(one); }
    HAM_CATCH_ALL { fail(std::current_exception()); }
  }
  void hand_over(chunk& one) {
    if constexpr (std::is_void_v<Result>) {
      one.answer.get();
      for (std::size_t at = one.begin; at < one.end; ++at) sink_(at);
    } else {
      std::vector<Result> results = one.answer.get();
      if (results.size() != one.end - one.begin) throw protocol_error("a chunk of a pool's map has results of others");
      for (std::size_t at = 0; at < results.size(); ++at) sink_(one.begin + at, std::move(results[at]));
    }
    done_ += one.end - one.begin;
    if (options_.on_progress) options_.on_progress(done_, items_.size());
  }
  void fail(std::exception_ptr why) noexcept {
    if (failure_ == nullptr) failure_ = std::move(why);
  }

  detail::pool_state& state_;
  const std::vector<Item>& items_;
  const Callable& callable_;
  const bool may_repeat_;
  const map_options& options_;
  Sink& sink_;
  std::deque<chunk> chunks_;  // which stay where they are
  std::vector<std::size_t> free_;
  std::vector<std::pair<std::size_t, std::size_t>> again_;
  detail::settled_chunks settled_;
  std::size_t next_ = 0, flying_ = 0, done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace offload
}  // namespace ham
