// Recorded graphs that are ready to be replayed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "ham/offload/detail/graph_calls.hpp"
#include "ham/offload/stage_error.hpp"

namespace ham::inline v1::offload {

class graph;

/// A graph that its nodes know. A call starts a replay: step(inputs...) gives a future of the result. Any thread, and
/// several at once; belongs to the runtime in which it was compiled. Replays in flight are independent of each other,
/// and may overtake each other.
///
/// The first stage that throws ends the replay: its future fails with ham::stage_error, which names the stage and has
/// what it threw. If a node of the graph is lost, all replays in flight fail with ham::node_failure, whose function()
/// is the stage. The graph stays usable: when a supervised node was started again, the next replay installs its part
/// there. Stages that have not begun when a replay fails do not run; those that run are not interrupted: a put or get
/// uses its range on, until it has ended or, at the latest, the graph has gone.
template <class Result, class... Inputs>
class compiled_graph {
  static constexpr bool typed = sizeof...(Inputs) != 0;

 public:
  /// A graph whose replays have a deadline or a token; see within() and stoppable(). As long as that.
  class bounded {
   public:
    /// Starts a replay, as operator() of the graph does.
    template <class... Args>
    [[nodiscard]] future<Result> operator()(const Args&... args) const {
      return of_->start(how_, args...);
    }

   private:
    friend class compiled_graph;
    bounded(compiled_graph& of, detail::replay_options how) noexcept : of_(&of), how_(std::move(how)) {}
    compiled_graph* of_;
    detail::replay_options how_;
  };

  compiled_graph(compiled_graph&&) noexcept = default;
  /// Waits for what the graph that this one has held has begun, as the destructor does.
  compiled_graph& operator=(compiled_graph&& other) noexcept {
    if (this != &other) {
      close();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  /// Waits until all replays have settled, and all transfers have ended that replays, also failed ones, have begun;
  /// makes progress. Futures stay valid.
  ~compiled_graph() { close(); }

  /// Starts a replay. Inputs are copied before it returns. Blocks, and makes progress, while `in_flight` replays have
  /// not settled, queues to nodes are full, or a node is being started again. Stages of this node that need nothing but
  /// inputs run before it returns. request_stop() of the future fails the replay at once, with
  /// ham::operation_cancelled, and tells the graph's nodes. A replay that a function starts has the time that the
  /// function has, and is stopped with it. Throws ham::call_error for inputs that are not the graph's, or take 4 GiB
  /// and more, ham::node_failure if one of its nodes is lost for good, ham::buffer_error if a stage was recorded with
  /// memory of a process that has died and was started again.
  template <class... Args>
  requires(!typed) [[nodiscard]] future<Result> operator()(const Args&... args) { return start({}, args...); }
  [[nodiscard]] future<Result> operator()(const Inputs&... args) requires(typed) { return start({}, args...); }

  /// The same, but gives nothing at once while `in_flight` replays have not settled.
  template <class... Args>
  [[nodiscard]] std::optional<future<Result>> try_start(const Args&... args) {
    detail::replay_options how;
    how.policy = detail::when_full::refuse;
    future<Result> made = start(how, args...);
    if (!made.valid()) return std::nullopt;
    return made;
  }

  /// step.within(10ms)(inputs...): a replay with a deadline from now, which also bounds the wait for room. When it
  /// passes, the future fails with ham::deadline_exceeded, stages that have not begun do not run, and those that run
  /// see it in this_call::stop_token(). The range of a put or get that has begun is in use still, at the longest until
  /// the graph has gone.
  template <class Rep, class Period>
  [[nodiscard]] bounded within(std::chrono::duration<Rep, Period> time, std::stop_token token = {}) {
    const std::int64_t deadline_ns = detail::time_from_now(time);
    return {*this, {deadline_ns == INT64_MAX ? 0 : deadline_ns, std::move(token), detail::when_full::wait}};
  }
  /// step.stoppable(token)(inputs...): a stop of the token, or of the future, is one of the replay, also while that
  /// waits for room or for nodes; this_call::stop_token() tells functions that run, and what they call is stopped with
  /// them. Nodes to which the queue is full are told when this one makes progress next. Ranges of transfers that have
  /// begun are in use still, as after a deadline. Costs each stage two allocations on its node.
  [[nodiscard]] bounded stoppable(std::stop_token token = {}) {
    return {*this, {INT64_MAX, std::move(token), detail::when_full::wait}};
  }

  /// Replays that have not settled.
  [[nodiscard]] std::size_t in_flight() const { return detail::replays_in_flight(*state_); }

 private:
  friend class graph;

  explicit compiled_graph(std::shared_ptr<detail::graph_replays> state) noexcept : state_(std::move(state)) {}

  template <class... Args>
  future<Result> start(const detail::replay_options& how, const Args&... args) {
    if constexpr (typed) {
      return start_typed(how, args...);
    } else {
      static_assert((msg::crosses<std::decay_t<Args>> && ...),
                    "ham: an input of a graph is of the type that input<>() was given, and of no other");
      const std::type_info* const types[] = {&typeid(Args)..., nullptr};
      detail::check_inputs(*state_, std::span(types, sizeof...(Args)));
      return detail::start_replay<Result>(*state_, how, args...);
    }
  }
  future<Result> start_typed(const detail::replay_options& how, const Inputs&... args) {
    return detail::start_replay<Result>(*state_, how, args...);
  }
  void close() noexcept {
    if (state_ != nullptr) detail::close_graph(*state_);
    state_.reset();
  }

  std::shared_ptr<detail::graph_replays> state_;
};

}  // namespace ham::offload
