// Which way put and get go; in messages, the owner of the memory executes one for each piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "ham/offload/future.hpp"
#include "runtime/engine.hpp"
#include "runtime/memory_access.hpp"

namespace ham::offload::detail {

inline constexpr std::size_t piece_bytes = std::size_t{1} << 20;  // at most

/// Waits for parts; the first error counts.
[[nodiscard]] future<void> join(engine& at, std::vector<future<void>> parts);
/// The same of parts of `what`, which have its deadline: the error says what became of all of it.
[[nodiscard]] future<void> join_bounded(engine& at, std::vector<future<void>> parts, const one_sided& what);
/// The error of a part that was not sent.
[[nodiscard]] future<void> unsent_part(engine& at);

/// send_piece(from, count) for all bytes of `what`, of `max_bytes` at once; settled when all pieces have. The caller
/// waits when many pieces are under way. Behind its deadline none is sent.
template <class Piece>
[[nodiscard]] future<void> in_pieces(engine& at, const one_sided& what, Piece send_piece,
                                     std::size_t max_bytes = piece_bytes) {
  constexpr std::size_t max_under_way = 1024;
  const engine_scope scope(&at);
  std::vector<future<void>> parts;
  for (std::size_t done = 0; done < what.bytes; done += max_bytes) {
    if (parts.size() >= max_under_way) parts[parts.size() - max_under_way].wait();
    if (what.how.deadline_ns != 0 && base::now_ns() >= what.how.deadline_ns) {
      parts.push_back(unsent_part(at));
      break;
    }
    parts.push_back(send_piece(done, std::min(max_bytes, what.bytes - done)));
  }
  return what.how.deadline_ns == 0 ? join(at, std::move(parts)) : join_bounded(at, std::move(parts), what);
}

/// What `begin` returns; if it throws, a future that fails with that.
template <class Begin>
[[nodiscard]] future<void> begun_or_failed(engine& at, Begin begin) {
  try {
    return begin();
  } catch (...) {
    return ready_or_failed(at, [] { throw; });
  }
}

/// The same of ham::deadline_exceeded alone.
template <class Begin>
[[nodiscard]] future<void> begun_or_late(engine& at, Begin begin) {
  try {
    return begin();
  } catch (const deadline_exceeded&) {
    return ready_or_failed(at, [] { throw; });
  }
}

/// Where the messages of a transfer go.
[[nodiscard]] inline destination messages_to(node_t node, const transfer_terms& how) noexcept {
  destination to(node);
  to.deadline_ns = how.deadline_ns;
  return to;
}

/// A node reaches memory that nobody has allocated through HAM by messages only: says so on stderr. Once in a process,
/// for sizes at which it matters.
void warn_of_messages(node_t node, std::size_t bytes);

/// put and get: by here() in this process itself, by accesses to the node's memory, or in messages of at most
/// `message_bytes` each, which send_piece(from, count) begins. Numbers of `swapped` bytes change their byte order on
/// the way, which only messages do.
template <class Here, class Piece>
[[nodiscard]] future<void> transfer(engine& at, const one_sided& what, std::uint32_t swapped, std::size_t message_bytes,
                                    Here here, Piece send_piece) {
  if (what.bytes == 0) return ready_or_failed(at, [] {});
  if (what.node == at.self()) return ready_or_failed(at, here);
  {
    ham::detail::peer_hold who = at.peer_of(what.node, what.how.deadline_ns);
    transport::remote_memory* const memory = at.memory.of(*who);
    if (memory != nullptr && what.there.tag == 0) warn_of_messages(what.node, what.bytes);
    // Messages have a deadline of their own; what they carry is theirs.
    const bool ends_in_time = what.how.deadline_ns == 0 || (memory != nullptr && !memory->waits_for_peer());
    if (memory != nullptr && what.there.tag != 0 && swapped == 0 && ends_in_time && what.suits(*memory))
      return access(at, std::move(who), *memory, what);
  }
  return in_pieces(at, what, send_piece, message_bytes);
}

}  // namespace ham::offload::detail
