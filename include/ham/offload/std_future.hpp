// Futures of HAM as std::future, for code that knows only those. Not part of ham/offload.hpp.
#pragma once

#include <future>
#include <utility>

#include "ham/offload/future.hpp"

namespace ham::inline v1::offload {

/// A std::future of the same result or error. Who waits for it makes no progress: another thread of the node has to
/// (the progress thread, a thread that waits for a HAM future, offload::progress()). Its destructor does not wait.
/// Invalidates `from`. Throws ham::error if that is invalid, std::bad_alloc.
template <class Result>
[[nodiscard]] std::future<Result> to_std_future(future<Result>&& from) {
  std::promise<Result> promise;
  std::future<Result> made = promise.get_future();
  from.on_result([kept = std::move(promise)](future<Result> settled) mutable {
    if (std::exception_ptr why = settled.error(); why != nullptr) {
      kept.set_exception(std::move(why));
    } else if constexpr (std::is_void_v<Result>) {
      settled.get();
      kept.set_value();
    } else {
      kept.set_value(settled.get());
    }
  });
  return made;
}

}  // namespace ham::offload
