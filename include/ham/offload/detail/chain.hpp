// What runs when a future has settled, and makes the result of another one: then, then_result. Internal.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "ham/offload/future.hpp"

namespace ham::inline v1::offload::detail {

/// Takes the outcome out of a settled future, without a throw.
template <class Result>
[[nodiscard]] outcome_of<Result> outcome_in(future<Result>& settled) noexcept {
  outcome_of<Result> taken;
  if (std::exception_ptr why = settled.error(); why != nullptr)
    taken.error = std::move(why);
  else
    taken.fill([&]() -> Result { return settled.get(); });
  settled = future<Result>();
  return taken;
}

template <class Result, class Function, sees What>
using returned_by =
    typename then_type<Function, std::conditional_t<What == sees::result, future<Result>, Result>>::type;

template <class Function, class Result>
auto call_with_value(Function&& function, outcome_of<Result>&& given) -> typename then_type<Function, Result>::type {
  if constexpr (std::is_void_v<Result>)
    return static_cast<Function&&>(function)();
  else
    return static_cast<Function&&>(function)(*std::move(given.value));
}

/// Run by the thread that makes progress.
template <class Result, class Function, sees What>
struct chain : continuation {
  using returned = returned_by<Result, Function, What>;
  using result = typename unwrapped<returned>::type;
  static constexpr bool follows = unwrapped<returned>::is_future;

  template <class Given>
  chain(future<Result> from, call_slot& to, Given&& what)
      : source(std::move(from)), target(to), function(static_cast<Given&&>(what)) {
    run = [](continuation* self) { static_cast<chain*>(self)->go(); };
  }

  void go() noexcept {
    if constexpr (What == sees::value) {
      if (std::exception_ptr why = source.error(); why != nullptr) {
        fail(std::move(why));
        return;
      }
    }
    if constexpr (follows) {
      outcome_of<returned> made;
      made.fill([this]() -> returned { return call(); });
      if (made.error != nullptr) {
        fail(std::move(made.error));
        return;
      }
      follow(*std::move(made.value));
    } else {
      fulfil<result>(target, [this]() -> result { return call(); });
      delete this;
    }
  }
  returned call() {
    if constexpr (What == sees::result) {
      return std::move(function)(std::move(source));
    } else if constexpr (std::is_void_v<Result>) {
      source.get();
      return std::move(function)();
    } else {
      return std::move(function)(source.get());
    }
  }
  void fail(std::exception_ptr why) noexcept {
    fail_local(target, std::move(why));
    delete this;
  }
  template <class Next>
  void follow(Next next) {
    if (!next.valid()) {
      fail(no_result());
      return;
    }
    inner = std::move(next);
    run = [](continuation* self) {
      auto* const me = static_cast<chain*>(self);
      deliver(me->runtime, me->target, outcome_in(me->inner));
      delete me;
    };
    future_access::on_settled(inner, this);
  }

  struct nothing {};
  future<Result> source;
  call_slot& target;
  std::uint64_t runtime = serial_of(*target.owner);
  Function function;
  std::conditional_t<follows, returned, nothing> inner{};
};

/// Handed over to an executor by the thread that makes progress. The result is taken out of its slot before, and
/// nothing of the node is touched there but through held_engine.
template <class Result, class Executor, class Function, sees What>
struct executor_chain : continuation, work_state {
  using returned = returned_by<Result, Function, What>;
  using result = typename unwrapped<returned>::type;
  static constexpr bool follows = unwrapped<returned>::is_future;

  template <class Where, class Given>
  executor_chain(future<Result> from, call_slot& to, Where&& where, Given&& what)
      : source(std::move(from)), target(to), ex(static_cast<Where&&>(where)), function(static_cast<Given&&>(what)) {
    continuation::run = [](continuation* self) { static_cast<executor_chain*>(self)->hand_over(); };
    work_state::run = [](work_state& self, bool dropped) noexcept { static_cast<executor_chain&>(self).go(dropped); };
    work_state::destroy = [](work_state* self) noexcept { static_cast<executor_chain*>(self)->release(); };
    work_state::runtime = serial_of(*target.owner);
  }

  void hand_over() noexcept {
    if constexpr (What == sees::value) {
      given = outcome_in(source);
      if (given.error != nullptr) {
        fail_local(target, std::move(given.error));
        delete this;
        return;
      }
    }
    HAM_TRY {
      const work mine(*this);  // to the end: what execute throws must be noted before the last copy goes
      HAM_TRY { executor_of(ex).execute(mine); }
      HAM_CATCH_ALL { given.error = std::current_exception(); }
    }
    HAM_CATCH_ALL { return; }  // no memory for the work: it has been dropped
  }
  void go(bool dropped) noexcept {
    outcome_of<returned> made;
    if (dropped) {
      made.error = given.error != nullptr ? std::move(given.error) : dropped_work();
    } else {
      made.fill([this]() -> returned {
        if constexpr (What == sees::result)
          return std::move(function)(std::move(source));
        else
          return call_with_value(std::move(function), std::move(given));
      });
    }
    if constexpr (follows) {
      if (made.error == nullptr && made.value->valid()) {
        inner = *std::move(made.value);
        return;  // followed when the executor has let go
      }
      outcome_of<result> failed;
      failed.error = made.error != nullptr ? std::move(made.error) : no_result();
      deliver(work_state::runtime, target, std::move(failed));
    } else {
      deliver(work_state::runtime, target, std::move(made));
    }
  }
  /// All copies of the work have gone.
  void release() noexcept {
    if constexpr (follows) {
      if (inner.valid()) {
        continuation::run = [](continuation* self) {
          auto* const me = static_cast<executor_chain*>(self);
          deliver(me->work_state::runtime, me->target, outcome_in(me->inner));
          delete me;
        };
        future_access::on_settled(inner, this);
        return;
      }
    }
    delete this;
  }

  struct nothing {};
  future<Result> source;
  call_slot& target;
  Executor ex;
  Function function;
  outcome_of<Result> given{};
  std::conditional_t<follows, returned, nothing> inner{};
};

template <class Chain, class Source, class... Parts>
auto start_chain(Source& source, Parts&&... parts) -> future<typename Chain::result> {
  call_slot* const before = future_access::slot(source);
  call_slot* const next = make_local_slot(future_access::runtime(source));
  auto made = future_access::make<typename Chain::result>(next);
  HAM_TRY { attach(*before, new Chain(std::move(source), *next, static_cast<Parts&&>(parts)...)); }
  HAM_CATCH_ALL {
    fail_local(*next, std::current_exception());
    static_cast<void>(made.has_value());  // it is thrown here
    HAM_RETHROW;
  }
  return made;
}

}  // namespace ham::offload::detail
