// Which way put and get go; in messages, the owner of the memory executes one for each piece.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "ham/offload/future.hpp"
#include "ham/offload/stop.hpp"
#include "ham/offload/supervise.hpp"
#include "runtime/bounced_transfer.hpp"
#include "runtime/engine.hpp"
#include "runtime/memory_access.hpp"
#include "runtime/pinned_transfer.hpp"

namespace ham::inline v1::offload::detail {

inline constexpr std::size_t piece_bytes = std::size_t{1} << 20;  // at most
/// Who copies for others gives a sign of life after so many bytes: well below a tenth of a second by an access.
inline constexpr std::size_t bytes_per_sign = std::size_t{64} << 20;

/// As get(), for functions of the library that may take long: the host is told that they are at work.
inline void get_with_signs(future<void> moved) {
  constexpr std::chrono::milliseconds interval(20);
  while (!moved.wait_for(interval)) this_call::heartbeat();
  this_call::heartbeat();
  moved.get();
}

/// Waits for parts; the first error counts.
[[nodiscard]] future<void> join(engine& at, const one_sided& what, std::vector<future<void>> parts);
/// The same of parts that have the deadline of `what`: the error says what became of all of it.
[[nodiscard]] future<void> join_bounded(engine& at, const one_sided& what, std::vector<future<void>> parts);
/// The error of a part that was not sent.
[[nodiscard]] future<void> unsent_part(engine& at, const one_sided& what);

/// The same, because the token was stopped.
[[nodiscard]] future<void> stopped_part(engine& at, const one_sided& what);

/// send_piece(from, count) for all bytes of `what`, of size_of(left) at once where so many are left; settled when all
/// pieces have. The caller waits when many pieces are under way. Behind its deadline, or
/// its stop, none is sent.
template <class Piece, class Size>
[[nodiscard]] future<void> in_pieces(engine& at, const one_sided& what, Piece send_piece, Size size_of) {
  constexpr std::size_t max_under_way = 1024;
  const engine_scope scope(&at);
  std::vector<future<void>> parts;
  std::size_t count = 0;
  for (std::size_t done = 0; done < what.bytes; done += count) {
    if (parts.size() >= max_under_way) parts[parts.size() - max_under_way].wait();
    if (what.how.deadline_ns != 0 && base::now_ns() >= what.how.deadline_ns) {
      parts.push_back(unsent_part(at, what));
      break;
    }
    if (what.how.token != nullptr && what.how.token->stop_requested()) {
      parts.push_back(stopped_part(at, what));
      break;
    }
    const ham::detail::token_of_next_call ends_wait(what.how.token);
    count = std::min<std::size_t>(size_of(what.bytes - done), what.bytes - done);
    parts.push_back(send_piece(done, count));
    this_call::heartbeat();
  }
  return what.how.deadline_ns == 0 ? join(at, what, std::move(parts)) : join_bounded(at, what, std::move(parts));
}

/// The same in pieces of `max_bytes`.
template <class Piece>
[[nodiscard]] future<void> in_pieces(engine& at, const one_sided& what, Piece send_piece, std::size_t max_bytes) {
  return in_pieces(at, what, std::move(send_piece), [max_bytes](std::size_t) { return max_bytes; });
}

/// What `begin` returns; if it throws, a future that fails with that. It is a copy with `node`.
template <class Begin>
[[nodiscard]] future<void> begun_or_failed(engine& at, node_t node, Begin begin) {
  try {
    return begin();
  } catch (...) {
    return ready_or_failed(at, operation::copy, node, [] { throw; });
  }
}

/// The same of ham::deadline_exceeded alone, of put or get.
template <class Begin>
[[nodiscard]] future<void> begun_or_late(engine& at, operation verb, node_t node, Begin begin) {
  try {
    return begin();
  } catch (const deadline_exceeded&) {
    return ready_or_failed(at, verb, node, [] { throw; });
  }
}

/// Whether an access by the memory is over by the deadline of `what`, or soon after. One that waits for the peer is
/// not, and one that was started cannot be taken back while its bytes are in use.
[[nodiscard]] inline bool ends_in_time(const one_sided& what, const transport::remote_memory& memory) noexcept {
  return what.how.deadline_ns == 0 ||
         (!memory.waits_for_peer() && memory.background() != transport::remote_memory::background_access::started);
}

/// Where the messages of a transfer go.
[[nodiscard]] inline destination messages_to(const engine& at, node_t node, const transfer_terms& how) noexcept {
  destination to(at.exactly(node));
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
  if (what.bytes == 0) return ready_or_failed(at, what.verb(), what.node, [] {});
  if (what.node == at.self()) return ready_or_failed(at, what.verb(), what.node, here);
  bool copies_mapped = false;
  {
    ham::detail::peer_hold who = at.peer_of(what.node, {what.how.deadline_ns, what.how.token});
    transport::remote_memory* const memory = at.memory.of(*who);
    if (memory != nullptr && what.there.tag == 0) warn_of_messages(what.node, what.bytes);
    // Messages have a deadline of their own; what they carry is theirs.
    if (memory != nullptr && what.there.tag != 0 && swapped == 0 && ends_in_time(what, *memory) && what.suits(*memory))
      return access(at, std::move(who), *memory, what);
    copies_mapped = who->copies_mapped;
  }
  if (copies_mapped) {
    if (auto begun = pinned_transfer(at, what, swapped)) return std::move(*begun);
    if (auto begun = bounced_transfer(at, what, swapped)) return std::move(*begun);
  }
  return in_pieces(at, what, send_piece, message_bytes);
}

}  // namespace ham::offload::detail
