// Transfers with a stop token: they go in parts, one behind the other, and a stop ends them between two.
#pragma once

#include <cstddef>
#include <functional>

#include "ham/offload/block.hpp"
#include "ham/offload/future.hpp"
#include "runtime/memory_access.hpp"

namespace ham::inline v1::offload::detail {

/// Begins the part of `count` units from `from` on.
using begin_part = std::function<future<void>(std::size_t from, std::size_t count, const transfer_terms& how)>;

/// What is moved: so many units (bytes, or rows) in parts of so many.
struct stoppable_units {
  operation verb;
  node_t node;
  std::size_t total;
  std::size_t part;
};

/// Whether `how` has a token that was not looked at yet.
[[nodiscard]] inline bool has_token(const transfer_terms& how) noexcept { return how.token != nullptr && !how.is_part; }
/// All of it, unless the token of `how` is stopped: then it fails with ham::operation_cancelled when the part that is
/// under way has ended. What the other thread needs of `how` is copied.
[[nodiscard]] future<void> in_stoppable_parts(engine& at, const stoppable_units& what, const transfer_terms& how,
                                              begin_part begin);

/// Rows in a part.
[[nodiscard]] std::size_t rows_of_part(const block_rows& what) noexcept;
/// `what`, of which only `rows` move.
[[nodiscard]] inline block_rows first_rows(block_rows what, std::size_t rows) noexcept {
  what.rows = rows;
  return what;
}

/// The token of `how`, if it has one, ends this message of a part.
void drop_when_stopped(call_slot& message, const transfer_terms& how);
template <class Result>
[[nodiscard]] future<Result> unless_stopped(future<Result> message, const transfer_terms& how) {
  if (how.token != nullptr) [[unlikely]]
    drop_when_stopped(*future_access::slot(message), how);
  return message;
}

}  // namespace ham::offload::detail
