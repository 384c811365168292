// One access to the memory of another node, by a transport that can: at once or beside the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "base/tracer.hpp"
#include "core/unobserved.hpp"
#include "ham/offload/memory.hpp"
#include "runtime/engine.hpp"
#include "runtime/row_layout.hpp"

namespace ham::inline v1::offload::detail {

/// The time that another node has for its part of a transfer, and what that makes of it; 0: no limit.
[[nodiscard]] std::int64_t time_left(const transfer_terms& how) noexcept;
[[nodiscard]] transfer_terms terms_left(std::int64_t time_left_ns) noexcept;

[[nodiscard]] std::string hexadecimal(std::uint64_t address);
/// Throws ham::buffer_error.
[[noreturn]] void refuse(const char* why, node_t node, raw_buffer what, std::size_t bytes);
[[noreturn]] void refuse(transport::access_result why, node_t node, raw_buffer what, std::size_t bytes);

/// A slot for the result of put, get or copy with `node`.
[[nodiscard]] inline call_slot* make_transfer_slot(engine& at, operation what, node_t node) {
  call_slot* const slot = make_local_slot(at);
  slot->position = ham::detail::position_of(what, node);
  return slot;
}

/// A future that has settled: with what `action` throws, if it does.
template <class Action>
[[nodiscard]] future<void> ready_or_failed(engine& at, operation what, node_t node, Action action) {
  call_slot* const slot = make_transfer_slot(at, what, node);
  fulfil<void>(*slot, action);
  return future_access::make<void>(slot);
}

/// Settles the future of an access that ran beside its caller: with what `check` throws, if it does.
template <class Check>
void settle_access(engine& at, call_slot& slot, Check check) noexcept {
  slot_state outcome = slot_state::value;
  try {
    check();
  } catch (...) {
    ::new (static_cast<void*>(slot.storage)) std::exception_ptr(std::current_exception());
    outcome = slot_state::failed;
  }
  ham::detail::settle_background(at, slot, outcome);
}

/// put or get; what is one row is checked by move() before any byte moves.
struct one_sided {
  enum class direction : std::uint8_t { put, get } which;
  std::byte* local;
  node_t node;
  raw_buffer there;
  std::size_t bytes;  ///< that move
  transfer_terms how;
  row_layout rows{};
  std::uint64_t traced_from = base::tracing() ? base::read_ticks() : 0;

  [[nodiscard]] operation verb() const noexcept { return which == direction::put ? operation::put : operation::get; }
  /// Whether accesses to this memory are worth it; where each costs a round trip, those to short rows are not.
  [[nodiscard]] bool suits(const transport::remote_memory& memory) const noexcept;
  /// Of the packed bytes `count` from `from` on.
  [[nodiscard]] transport::access_result move(transport::remote_memory& memory, std::size_t from,
                                              std::size_t count) const;
  /// What an access would answer that is checked as one, before any byte moves.
  [[nodiscard]] transport::access_result allowed(transport::remote_memory& memory) const;
  /// Begins to move `count` bytes that follow each other, of memory whose accesses are started.
  [[nodiscard]] std::unique_ptr<transport::started_access> start_run(transport::remote_memory& memory, std::size_t from,
                                                                     std::size_t to, std::size_t count) const;
  /// Throws unless it was done: ham::node_failure, ham::buffer_error.
  void check(engine& at, ham::detail::peer& who, transport::access_result result) const;
  /// The error of one whose deadline has passed. `begun`: some of the bytes may have moved, or may yet.
  [[nodiscard]] deadline_exceeded late(bool begun) const;
  /// The same, and the program is told by offload::on_event.
  [[nodiscard]] deadline_exceeded missed(engine& at, bool begun) const;
  /// It is over. Any thread.
  void trace_end(const engine& at) const noexcept {
    if (traced_from != 0 && base::tracing()) [[unlikely]]
      add_to_trace(at);
  }

 private:
  void add_to_trace(const engine& at) const noexcept;
  [[nodiscard]] transport::access_result move_run(transport::remote_memory& memory, std::size_t from, std::size_t to,
                                                  std::size_t count) const;
};

/// Begins it, or does it at once where that is quicker, or where it would be refused.
[[nodiscard]] future<void> access(engine& at, ham::detail::peer_hold who, transport::remote_memory& memory,
                                  const one_sided& what);

}  // namespace ham::offload::detail
