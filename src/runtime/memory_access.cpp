// Small accesses are the caller's own; from a size where that pays on, the node's transfer queue takes them over.
#include "runtime/memory_access.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/thread.hpp"
#include "core/started_transfers.hpp"
#include "core/transfer_queue.hpp"
#include "runtime/started_rows.hpp"

namespace ham::offload::detail {
namespace {

using transport::access_result;

constexpr std::size_t part_bytes = std::size_t{1} << 20;
/// What is started takes no core from anybody; of fewer bytes, messages back and forth are most of the time.
constexpr std::size_t min_started_bytes = std::size_t{256} << 10;

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
    settle_access(at_, slot_, [&] { check(how); });
  }

  /// All of it on the calling thread, at once.
  void do_here() noexcept {
    const transport::access_result how = move(0, what_.bytes);
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
  if (at.memory.started().begin(job, memory.open_to_all())) return future<void>(&slot);
  fulfil<void>(slot, [&] {
    const transport::access_result allowed = what.rows.row_bytes == 0 ? access_result::done : what.allowed(memory);
    what.check(at, *who, allowed != access_result::done ? allowed : what.move(memory, 0, what.bytes));
  });
  return future<void>(&slot);
}

future<void> access_now(engine& at, ham::detail::peer& who, transport::remote_memory& memory, const one_sided& what) {
  const transport::access_result how = what.move(memory, 0, what.bytes);
  return ready_or_failed(at, what.verb(), what.node, [&] { what.check(at, who, how); });
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

void one_sided::check(engine& at, ham::detail::peer& who, transport::access_result how) const {
  if (how == transport::access_result::lost) at.fail_access(who);
  if (how != transport::access_result::done) refuse(how, node, there, rows.remote_extent(bytes));
}

future<void> access(engine& at, ham::detail::peer_hold who, transport::remote_memory& memory, const one_sided& what) {
  using background_access = transport::remote_memory::background_access;
  const background_access how = memory.background();
  const bool pays =
      how == background_access::started ? what.bytes >= min_started_bytes : at.memory.transfers().pays(what.bytes);
  const bool now = what.whom == moved_by::caller || !pays;
  const bool in_rows = what.rows.row_bytes != 0;
  if (now && !in_rows) return access_now(at, *who, memory, what);
  if (how == background_access::started && !now) return start_access(at, std::move(who), memory, what);
  // Each part, or row, is checked by itself. The caller does not wait for a node to check the block.
  const bool check_here = now || how == background_access::parts;
  if (check_here) {
    if (const access_result answer = what.allowed(memory); answer != access_result::done)
      return ready_or_failed(at, what.verb(), what.node, [&] { what.check(at, *who, answer); });
    if (now) return access_now(at, *who, memory, what);
  }
  auto handed_over = std::make_unique<background_transfer>(at, std::move(who), memory, what, check_here || !in_rows);
  background_transfer& mine = *handed_over;
  call_slot& slot = mine.slot();
  std::unique_ptr<ham::detail::transfer> job = std::move(handed_over);
  const std::size_t part = how == background_access::parts ? part_bytes : what.bytes;
  if (!at.memory.transfers().begin(slot, job, what.bytes, part)) mine.do_here();
  return future<void>(&slot);
}

}  // namespace ham::offload::detail
