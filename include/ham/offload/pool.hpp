// A pool of nodes that share work: each task goes to the least busy one.
//
//   offload::pool workers{{1, 2, 3}};
//   auto one = workers.async(fn<&solve>, problem);
//   std::vector<double> all = workers.map(problems, fn<&solve>);
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/msg/idempotent.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/pool_calls.hpp"
#include "ham/offload/detail/pool_map.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::offload {

struct pool_options {
  /// Tasks that a node may have, running and waiting. 0: 32; up to 256 where nodes share cores with the thread that
  /// fills the pool, and tasks are so short that they would run out of them.
  std::size_t per_node = 0;
  /// future::request_stop() reaches the functions of tasks that run; costs a task what offload::stoppable() does.
  bool stoppable = false;
};

struct map_options {
  std::size_t chunk = 0;  ///< elements of one message; 0: many at first, fewer towards the end
  /// Called by the thread of map() after each chunk. What it throws ends the map.
  std::function<void(std::size_t done, std::size_t total)> on_progress{};
};

/// Nodes that share work. A task goes to the living node that has the fewest tasks of this pool. All members may be
/// called from any thread, and from several at once; tasks belong to the runtime in which the pool was made.
///
/// A node that is lost, or was removed, gets no more tasks. Those that it had fail with ham::node_failure, whose
/// outcome() says whether they may have run, unless their callable is idempotent(): then they go to another node,
/// before all that waits for room. A task that cannot be sent because its node is lost goes to another one in any case.
/// When no node is left, async() and map() throw ham::node_failure.
class pool {
  template <class Callable, class... Args>
  using future_of = future<detail::result_of_call_t<Callable, const Args&...>>;
  template <class Callable, class... Args>
  static constexpr bool sends_pointers = detail::sends_pointers<Callable, const Args&...>;

 public:
  /// All nodes but this one that can be called now. Throws ham::config_error if there are none.
  pool() : pool(detail::all_others()) {}
  /// Nodes that are lost already get no tasks. Throws ham::config_error for no nodes, numbers that the job does not
  /// have, or that are there twice.
  explicit pool(std::vector<node_t> nodes, pool_options options = {})
      : state_(detail::make_pool_state(std::move(nodes), options.per_node, options.stoppable)) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// Waits until all tasks have settled, and makes progress. Their futures stay valid.
  ~pool() { detail::await_idle(*state_); }

  /// Starts callable(args...) on the least busy node. While all nodes have as many tasks as they may it waits, first
  /// come, first served, and makes progress; but not within a call or a continuation, which a task may wait for in
  /// turn: there the task is sent beyond that limit. Where busy nodes have not a core each, it sleeps for up to 1 ms
  /// at a time of that wait, and makes no progress. Arguments are copied before it returns. What the function throws is
  /// in the future. Throws as offload::async; ham::node_failure only if no node is left.
  template <class Callable, class... Args>
  requires(!sends_pointers<Callable, Args...>) [[nodiscard]] auto async(const Callable& callable, const Args&... args)
      -> future_of<Callable, Args...> {
    return start(detail::when_full::wait, callable, args...);
  }
  template <class Callable, class... Args,
            class HoldsPointer = detail::pointer_holder_of_call<Callable, const Args&...>>
  requires(sends_pointers<Callable, Args...>) [[nodiscard]] HAM_WARN_OF_POINTERS
      auto async(const Callable& callable, const Args&... args) -> future_of<Callable, Args...> {
    return start(detail::when_full::wait, callable, args...);
  }

  /// The same, but gives nothing at once if all nodes have as many tasks as they may, others wait for room already, or
  /// the queue to the node is full.
  template <class Callable, class... Args>
  requires(!sends_pointers<Callable, Args...>)
      [[nodiscard]] auto try_async(const Callable& callable, const Args&... args)
          -> std::optional<future_of<Callable, Args...>> {
    return try_start(callable, args...);
  }
  template <class Callable, class... Args,
            class HoldsPointer = detail::pointer_holder_of_call<Callable, const Args&...>>
  requires(sends_pointers<Callable, Args...>) [[nodiscard]] HAM_WARN_OF_POINTERS
      auto try_async(const Callable& callable, const Args&... args) -> std::optional<future_of<Callable, Args...>> {
    return try_start(callable, args...);
  }

  /// Calls callable(element) for each element of a range, in chunks of one message each, and gives the results in the
  /// order of the range. Blocks and makes progress. Elements and results cross; each chunk, and its results, must fit
  /// into a message. Each node has two chunks at a time, so that the next one is there when one is done.
  /// Throws the first error when what is under way has settled; no further chunks are sent then. Chunks of a lost node
  /// are repeated if the callable is idempotent().
  template <std::ranges::input_range Range, class Callable>
  auto map(Range&& range, const Callable& callable, const map_options& options = {}) {
    using result = mapped<Callable, Range>;
    const detail::map_items<std::remove_reference_t<Range>> items(range);
    if constexpr (std::is_void_v<result>) {
      const auto sink = [](std::size_t) {};
      run_map<result>(items, callable, options, sink);
    } else {
      std::vector<std::optional<result>> found(items.size());
      const auto sink = [&found](std::size_t at, result&& value) { found[at].emplace(std::move(value)); };
      run_map<result>(items, callable, options, sink);
      std::vector<result> results;
      results.reserve(found.size());
      for (std::optional<result>& one : found) results.push_back(*std::move(one));
      return results;
    }
  }

  /// The same with results as they come: calls sink(index, result) on this thread for each one, or sink(index) where
  /// there is no result. What the sink throws ends the map.
  template <std::ranges::input_range Range, class Callable, class Sink>
  requires(!std::is_convertible_v<Sink, map_options>) void map(Range&& range, const Callable& callable, Sink&& sink,
                                                               const map_options& options = {}) {
    const detail::map_items<std::remove_reference_t<Range>> items(range);
    run_map<mapped<Callable, Range>>(items, callable, options, sink);
  }

  /// Tasks that have not settled, chunks of maps included. One whose result has just come may still count.
  [[nodiscard]] std::size_t pending() const { return detail::pending_tasks(*state_); }
  /// Nodes that have not been found to be lost.
  [[nodiscard]] std::size_t living() const { return detail::living_nodes(*state_); }

 private:
  template <class Callable, class Range>
  using mapped = detail::result_of_call_t<Callable, const std::ranges::range_value_t<Range>&>;

  /// An invalid future: there is no room.
  template <class Callable, class... Args>
  auto start(detail::when_full policy, const Callable& callable, const Args&... args) -> future_of<Callable, Args...> {
    using made_type = future_of<Callable, Args...>;
    if constexpr (msg::is_idempotent_v<Callable>) {
      using plan = detail::call_plan<Callable, const Args&...>;
      detail::call_slot* slot = nullptr;
      if constexpr (plan::valid)
        slot = detail::start_repeatable(state_, policy,
                                        detail::make_repeatable<plan>(detail::first_place(*state_), callable, args...));
      else [[maybe_unused]]
        typename plan::report error;
      return detail::future_access::make<typename made_type::value_type>(slot);
    } else {
      while (auto ticket = detail::enter_pool(state_, policy)) {
        HAM_TRY {
          made_type made = detail::start_call<Callable>(detail::destination_of(*ticket), policy, callable, args...);
          if (made.valid()) detail::leave_when_settled(std::move(ticket), *detail::future_access::slot(made));
          return made;
        }
        HAM_CATCH_ALL { detail::exclude_or_rethrow(*ticket); }
      }
      return made_type();
    }
  }
  template <class Callable, class... Args>
  auto try_start(const Callable& callable, const Args&... args) -> std::optional<future_of<Callable, Args...>> {
    auto made = start(detail::when_full::refuse, callable, args...);
    if (!made.valid()) return std::nullopt;
    return made;
  }
  template <class Result, class Items, class Callable, class Sink>
  void run_map(const Items& items, const Callable& callable, const map_options& options, Sink& sink) {
    detail::mapping<Items, Callable, Result, Sink> chunks(items, callable, sink);
    detail::run_map(state_, chunks,
                    {items.size(), options.chunk, msg::is_idempotent_v<Callable>, &options.on_progress});
  }

  std::shared_ptr<detail::pool_state> state_;
};

}  // namespace ham::offload
