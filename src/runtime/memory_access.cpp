// Small accesses are the caller's own; from a size where that pays on, the node's transfer queue takes them over.
#include "runtime/memory_access.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "core/started_transfers.hpp"
#include "core/transfer_queue.hpp"
#include "runtime/started_rows.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using transport::access_result;

constexpr std::size_t part_bytes = std::size_t{1} << 20;
/// What is started takes no core from anybody; of fewer bytes, messages back and forth are most of the time.
constexpr std::size_t min_started_bytes = std::size_t{256} << 10;
constexpr std::size_t bounded_part_bytes = std::size_t{4} << 20;  // where a part costs something, for a deadline

/// What moves between two readings of the clock, or on one thread.
std::size_t part_of(const one_sided& what, transport::remote_memory::background_access by) noexcept {
  if (by == transport::remote_memory::background_access::parts) return part_bytes;
  return what.how.deadline_ns == 0 ? what.bytes : bounded_part_bytes;
}

/// An access while its caller goes on.
class background_transfer final : public ham::detail::transfer {
 public:
  /// `checked`: what.allowed() has said so, or it is one row.
  background_transfer(engine& at, ham::detail::peer_hold who, transport::remote_memory& memory, const one_sided& what,
                      bool checked)
      : at_(at),
        who_(std::move(who)),
        memory_(memory),
        what_(what),
        slot_(*make_transfer_slot(at, what.verb(), what.node)),
        rows_checked_(checked) {}

  [[nodiscard]] call_slot& slot() noexcept { return slot_; }
  [[nodiscard]] transport::access_result move(std::size_t from, std::size_t bytes) noexcept override {
    try {
      if (!rows_checked_) {  // then there is one part
        rows_checked_ = true;
        if (const auto answer = what_.allowed(memory_); answer != transport::access_result::done) return answer;
      }
      return what_.move(memory_, from, bytes);
    } catch (...) {
      std::lock_guard guard(mutex_);
      if (problem_ == nullptr) problem_ = std::current_exception();
      return transport::access_result::lost;
    }
  }
  void finish(transport::access_result how) noexcept override {
    what_.trace_end(at_);
    settle_access(at_, slot_, [&] { check(how); });
  }
  void expire(bool begun) noexcept override {
    what_.trace_end(at_);
    settle_access(at_, slot_, [&] { throw what_.missed(at_, begun); });
  }
  [[nodiscard]] std::exception_ptr late(bool begun) const noexcept override {
    try {
      return std::make_exception_ptr(what_.missed(at_, begun));
    } catch (...) {  // no memory
      return std::current_exception();
    }
  }

  /// All of it on the calling thread, at once.
  void do_here() noexcept {
    const transport::access_result how = move(0, what_.bytes);
    what_.trace_end(at_);
    fulfil<void>(slot_, [&] { check(how); });
  }

 private:
  void check(transport::access_result how) {
    if (problem_ != nullptr) std::rethrow_exception(problem_);
    what_.check(at_, *who_, how);
  }

  engine& at_;
  const ham::detail::peer_hold who_;  // and with it the memory
  transport::remote_memory& memory_;
  const one_sided what_;
  call_slot& slot_;
  bool rows_checked_;
  std::mutex mutex_;
  std::exception_ptr problem_;  // of the transport itself, such as no memory
};

/// Where it cannot be started, for want of memory or of a thread, the caller does it.
future<void> start_access(engine& at, ham::detail::peer_hold who, transport::remote_memory& memory,
                          const one_sided& what) {
  auto fresh = std::make_unique<started_rows>(at, ham::detail::peer_hold(*who), memory, what);
  call_slot& slot = fresh->slot();
  std::unique_ptr<ham::detail::started_transfer> job = std::move(fresh);
  if (at.memory.started().begin(job, memory.open_to_all())) return future_access::make<void>(&slot);
  fulfil<void>(slot, [&] {
    const transport::access_result allowed = what.rows.row_bytes == 0 ? access_result::done : what.allowed(memory);
    what.check(at, *who, allowed != access_result::done ? allowed : what.move(memory, 0, what.bytes));
  });
  what.trace_end(at);
  return future_access::make<void>(&slot);
}

/// In parts, if there is a deadline: it has been checked as a whole then.
future<void> access_now(engine& at, ham::detail::peer& who, transport::remote_memory& memory, const one_sided& what) {
  const std::size_t part = what.how.deadline_ns == 0 ? what.bytes : part_of(what, memory.background());
  std::size_t done = 0;
  auto result = access_result::done;
  do {
    const std::size_t size = std::min(part, what.bytes - done);
    result = what.move(memory, done, size);
    done += size;
    if (result != access_result::done) break;
  } while (done < what.bytes && base::now_ns() < what.how.deadline_ns);
  what.trace_end(at);
  return ready_or_failed(at, what.verb(), what.node, [&] {
    what.check(at, who, result);
    if (done < what.bytes) throw what.missed(at, true);
  });
}

}  // namespace

std::string hexadecimal(std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

void refuse(const char* why, node_t node, raw_buffer what, std::size_t bytes) {
  throw buffer_error("cannot access " + std::to_string(bytes) + " bytes at " + hexadecimal(what.address) + " of node " +
                     std::to_string(node) + " (" + why + ")");
}

void refuse(transport::access_result why, node_t node, raw_buffer what, std::size_t bytes) {
  refuse(why == transport::access_result::stale ? "the allocation was freed, or is of another node"
                                                : "outside of the allocation",
         node, what, bytes);
}

bool one_sided::suits(const transport::remote_memory& memory) const noexcept {
  constexpr std::size_t long_row = std::size_t{64} << 10;
  return rows.row_bytes == 0 || rows.row_bytes >= long_row ||
         memory.background() == transport::remote_memory::background_access::parts;
}

transport::access_result one_sided::move_run(transport::remote_memory& memory, std::size_t from, std::size_t to,
                                             std::size_t count) const {
  return which == direction::put ? memory.put(there.address + to, there.tag, local + from, count)
                                 : memory.get(there.address + to, there.tag, local + from, count);
}

void one_sided::add_to_trace(const engine& at) const noexcept {
  base::this_tracer.add(
      at.self(),
      base::trace_event::make(which == direction::put ? base::trace_kind::put : base::trace_kind::got, traced_from,
                              base::read_ticks(), base::trace_event::pair(static_cast<std::uint32_t>(node), 0), bytes));
}

std::unique_ptr<transport::started_access> one_sided::start_run(transport::remote_memory& memory, std::size_t from,
                                                                std::size_t to, std::size_t count) const {
  return which == direction::put ? memory.start_put(there.address + to, there.tag, local + from, count)
                                 : memory.start_get(there.address + to, there.tag, local + from, count);
}

transport::access_result one_sided::move(transport::remote_memory& memory, std::size_t from, std::size_t count) const {
  auto result = transport::access_result::done;
  rows.for_each_run(from, count, [&](std::size_t here, std::size_t far, std::size_t run) {
    result = move_run(memory, here, far, run);
    return result == transport::access_result::done;
  });
  return result;
}

transport::access_result one_sided::allowed(transport::remote_memory& memory) const {
  const std::size_t extent = rows.remote_extent(bytes);
  if (extent > UINT64_MAX - there.address) return transport::access_result::out_of_range;
  const transport::access_result begin = move_run(memory, 0, 0, 0);
  return begin == transport::access_result::done ? move_run(memory, 0, extent, 0) : begin;
}

void one_sided::check(engine& at, ham::detail::peer& who, transport::access_result result) const {
  if (result == transport::access_result::lost) at.fail_access(who);
  if (result != transport::access_result::done) refuse(result, node, there, rows.remote_extent(bytes));
}

deadline_exceeded one_sided::late(bool begun) const {
  return deadline_exceeded(std::string(which == direction::put ? "put" : "get") + " of " + std::to_string(bytes) +
                               " bytes at " + hexadecimal(there.address) + " of node " + std::to_string(node) +
                               " was not over by its deadline (" +
                               (!begun                    ? "nothing has moved"
                                : which == direction::put ? "any part of the node's memory may have been written"
                                                          : "any part of the local memory may have been written") +
                               "); allow more time",
                           begun ? call_outcome::may_have_run : call_outcome::not_run);
}

deadline_exceeded one_sided::missed(engine& at, bool begun) const {
  at.report_missed(node, which == direction::put ? "put" : "get");
  return late(begun);
}

future<void> access(engine& at, ham::detail::peer_hold who, transport::remote_memory& memory, const one_sided& what) {
  using background_access = transport::remote_memory::background_access;
  const background_access how = memory.background();
  // What is started cannot be taken back at a deadline: with one, its caller moves it in parts.
  const bool starts = how == background_access::started && what.how.deadline_ns == 0 && what.bytes >= min_started_bytes;
  const bool pays = how == background_access::started ? starts : at.memory.transfers().pays(what.bytes);
  const bool now = what.how.whom == moved_by::caller || !pays;
  const std::size_t part = part_of(what, how);
  const bool divided = what.rows.row_bytes != 0 || (what.how.deadline_ns != 0 && part < what.bytes);
  if (now && !divided) return access_now(at, *who, memory, what);
  if (starts && !now) return start_access(at, std::move(who), memory, what);
  // Each part, or row, is checked by itself. The caller does not wait for a node to check the block.
  const bool check_here = now || how == background_access::parts || part < what.bytes;
  if (check_here) {
    if (const access_result answer = what.allowed(memory); answer != access_result::done)
      return ready_or_failed(at, what.verb(), what.node, [&] { what.check(at, *who, answer); });
    if (now) return access_now(at, *who, memory, what);
  }
  auto handed_over = std::make_unique<background_transfer>(at, std::move(who), memory, what, check_here || !divided);
  background_transfer& mine = *handed_over;
  call_slot& slot = mine.slot();
  slot.deadline_ns = what.how.deadline_ns;
  const std::uint32_t id = slot.id.load(std::memory_order_relaxed);
  std::unique_ptr<ham::detail::transfer> job = std::move(handed_over);
  if (!at.memory.transfers().begin(slot, job, what.bytes, part, what.how.deadline_ns))
    mine.do_here();
  else if (what.how.deadline_ns != 0 && what.how.deadline_ns != base::never_ns)
    at.calls.add_deadline(id, what.how.deadline_ns);
  return future_access::make<void>(&slot);
}

}  // namespace ham::offload::detail
