#include "base/own_counters.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/memory_file.hpp"
#include "base/renew.hpp"

namespace ham::inline v1::base {
namespace {

constinit std::atomic<std::uint64_t> next_counters{1};

counter_area* map_counters(int fd) noexcept {
  void* const at = ::mmap(nullptr, sizeof(counter_area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<counter_area*>(at);
}

bool has_ended(std::uint32_t thread) noexcept {
  return ::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0 && errno == ESRCH;
}

void move_traffic(counter_traffic& to, counter_traffic& from) noexcept {
  count_more(to.calls_sent, from.calls_sent.exchange(0, std::memory_order_relaxed));
  count_more(to.bytes_sent, from.bytes_sent.exchange(0, std::memory_order_relaxed));
  count_more(to.calls_received, from.calls_received.exchange(0, std::memory_order_relaxed));
  count_more(to.bytes_received, from.bytes_received.exchange(0, std::memory_order_relaxed));
  from.waiting.store(0, std::memory_order_relaxed);
}

}  // namespace

constinit thread_local counter_cache this_counter_cache;

own_counters::own_counters(std::int32_t node) noexcept : serial_(next_counters.fetch_add(1)) {
  const int before = errno;
  try {
    file_ = make_memory_file(counter_file_name, sizeof(counter_area));
    area_ = map_counters(file_.get());
  } catch (...) {  // the job does without
  }
  errno = before;
  if (area_ == nullptr) {
    file_.reset();
    return;
  }
  counter_head& head = area_->head;
  head.pid = ::getpid();
  head.node = node;
  head.source = own_tick_source;
  head.start_ticks = read_ticks();
  head.start_ns = now_ns();
  head.serial = serial_;
  std::strncpy(head.program.data(), program_invocation_short_name, head.program.size() - 1);
  head.magic.store(counter_head::magic_value, std::memory_order_release);
}

own_counters::~own_counters() {
  if (area_ != nullptr) ::munmap(area_, sizeof *area_);
}

counter_row_of_peer own_counters::claim_row(std::int32_t node) {
  if (!on()) return {};
  const std::lock_guard guard(mutex_);
  std::uint32_t at = used_rows_;
  if (!free_rows_.empty()) {
    at = free_rows_.back();
    free_rows_.pop_back();
  } else if (at == counter_area::max_rows) {
    return {};
  } else {
    free_rows_.reserve(at + 1);  // giving back needs no memory
    used_rows_ = at + 1;
    area_->head.rows.store(used_rows_, std::memory_order_release);
  }
  counter_row& row = area_->rows[at];
  row.node.store(node, std::memory_order_relaxed);
  row.number.store(node, std::memory_order_relaxed);
  row.now.store(static_cast<std::uint32_t>(counter_row::state::expected), std::memory_order_release);
  return {*this, row};
}

void own_counters::give_back(counter_row& row) noexcept {
  const std::lock_guard guard(mutex_);
  counter_head& head = area_->head;
  head.changes.fetch_add(1, std::memory_order_seq_cst);
  row.now.store(static_cast<std::uint32_t>(counter_row::state::nobody), std::memory_order_relaxed);
  move_traffic(head.gone, row.traffic);
  row.restarts.store(0, std::memory_order_relaxed);
  row.pid.store(0, std::memory_order_relaxed);
  row.transport = {};
  row.machine = {};
  head.changes.fetch_add(1, std::memory_order_seq_cst);
  free_rows_.push_back(static_cast<std::uint32_t>(&row - area_->rows.data()));
}

/// Its own, else one of nobody, else that of a thread that has ended, whose counts stay; else that of all others.
counter_thread* own_counters::claim_thread() noexcept {
  const int before = errno;
  const auto me = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  const std::lock_guard guard(mutex_);
  const auto end = threads_.end() - 1;
  auto found = std::find(threads_.begin(), end, me);
  if (found == end) {
    found = std::find(threads_.begin(), end, 0U);
    if (found == end) found = std::find_if(threads_.begin(), end, &has_ended);
  }
  counter_thread& block = area_->threads[static_cast<std::size_t>(found - threads_.begin())];
  if (found != end && *found != me) {
    *found = me;
    block.begun.store(block.ended.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  errno = before;
  return &block;
}

void own_counters::detach_after_fork() noexcept {
  renew(mutex_);
  file_.reset();
  if (area_ == nullptr) return;
  // In place: peers and calls that are under way point to it. Whoever cannot have memory here must not write there.
  void* const own = ::mmap(area_, sizeof *area_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (own == MAP_FAILED) ::_exit(EXIT_FAILURE);
}

// ---- rows

counter_row_of_peer::counter_row_of_peer() : row_(new counter_row{}) {}

counter_row_of_peer::counter_row_of_peer(counter_row_of_peer&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), row_(std::exchange(other.row_, nullptr)) {}

counter_row_of_peer::~counter_row_of_peer() {
  if (row_ == nullptr) return;
  if (of_ == nullptr)
    delete row_;
  else
    of_->give_back(*row_);
}

}  // namespace ham::base
