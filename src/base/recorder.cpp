// Where the events of a process go. The memory is never unmapped: threads may record until the process ends.
#include "base/recorder.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <span>

#include "base/immortal.hpp"
#include "base/memory_file.hpp"
#include "base/renew.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

struct process_recorder {
  enum class state : std::uint8_t { undecided, on, off };

  std::mutex mutex;
  state is = state::undecided;
  std::int32_t node = 0;
  recorder_names names = nullptr;
  unique_fd own_file;  // kept open, by which tools find it
  recorder_area* area = nullptr;
  bool prepared = false;
  std::array<std::uint32_t, recorder_area::max_threads> threads{};  // not in the area, where others may write

  bool prepare() noexcept;
  recorder_ring* claim() noexcept;
};

process_recorder& of_process() { return immortal<process_recorder>(); }

recorder_area* map_area(int fd, std::uint64_t offset) noexcept {
  void* const at = ::mmap(nullptr, recorder_area::bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                          static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<recorder_area*>(at);
}

std::uint32_t write_names(recorder_names name_of, std::span<std::byte> into) noexcept {
  std::uint32_t count = 0;
  for (std::string_view name; name_of(count, name); ++count) {
    const auto size = static_cast<std::uint16_t>(std::min<std::size_t>(name.size(), UINT16_MAX));
    if (sizeof size + size > into.size()) break;
    std::memcpy(into.data(), &size, sizeof size);
    std::memcpy(into.data() + sizeof size, name.data(), size);
    into = into.subspan(sizeof size + size);
  }
  return count;
}

/// False: there is no memory.
bool process_recorder::prepare() noexcept {
  if (prepared) return true;
  if (area == nullptr) {
    try {
      own_file = make_memory_file("ham-recorder", recorder_area::bytes);
    } catch (...) {  // the job does without
      return false;
    }
    area = map_area(own_file.get(), 0);
    if (area == nullptr) {
      own_file.reset();
      return false;
    }
  }
  if (area->head.magic != 0) std::memset(static_cast<void*>(area), 0, sizeof *area);  // of a node that had the place
  recorder_head head{};
  head.pid = ::getpid();
  head.node = node;
  head.source = own_tick_source;
  head.start_ticks = read_ticks();
  head.start_ns = now_ns();
  head.names = write_names(names, area->names);
  std::memcpy(&area->head, &head, sizeof head);
  __atomic_store_n(&area->head.magic, recorder_head::magic_value, __ATOMIC_RELEASE);
  prepared = true;
  return true;
}

void clear(recorder_ring& ring) noexcept {
  for (recorded_event& one : ring.open) store_event(one, {});
  for (recorded_event& one : ring.past) store_event(one, {});
}

/// A ring of nobody, else that of a thread that has ended.
recorder_ring* process_recorder::claim() noexcept {
  const auto is_free = [](std::uint32_t thread) {
    return thread == 0 || (::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0 && errno == ESRCH);
  };
  for (const bool never_used : {true, false}) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (never_used ? threads[i] != 0 : !is_free(threads[i])) continue;
      threads[i] = static_cast<std::uint32_t>(::syscall(SYS_gettid));
      recorder_ring& ring = area->rings[i];
      if (!never_used) clear(ring);
      ring.thread = threads[i];
      return &ring;
    }
  }
  return nullptr;
}

}  // namespace

constinit thread_local thread_recorder this_recorder;

bool thread_recorder::attach() noexcept {
  const int before = errno;
  process_recorder& all = of_process();
  std::lock_guard guard(all.mutex);
  if (all.is == process_recorder::state::undecided) return false;
  if (all.is == process_recorder::state::on && !all.prepare()) all.is = process_recorder::state::off;
  if (all.is == process_recorder::state::on) ring_ = all.claim();
  off_ = ring_ == nullptr;
  errno = before;
  return !off_;
}

void thread_recorder::mark_queued(std::uint32_t call) noexcept {
  if (ring_ == nullptr || depth_ == 0) return;
  recorded_event& open = ring_->open[place_of(depth_ - 1)];
  if (open.kind() == recorded_kind::executing && open.call() == call) store_event(open, open.as(recorded_kind::queued));
}

void enable_recorder(std::int32_t node, recorder_names names) noexcept {
  process_recorder& all = of_process();
  std::lock_guard guard(all.mutex);
  if (all.is != process_recorder::state::undecided) return;
  all.is = process_recorder::state::on;
  all.node = node;
  all.names = names;
}

void disable_recorder() noexcept {
  process_recorder& all = of_process();
  std::lock_guard guard(all.mutex);
  if (all.is == process_recorder::state::undecided) all.is = process_recorder::state::off;
}

bool use_recorder_area(int fd, std::uint64_t offset) noexcept {
  process_recorder& all = of_process();
  std::lock_guard guard(all.mutex);
  if (all.is == process_recorder::state::off || all.area != nullptr) return false;
  if (file_size(fd) < offset + recorder_area::bytes) return false;  // the host is of another release, or has no room
  all.area = map_area(fd, offset);
  return all.area != nullptr;
}

void detach_recorder_after_fork() noexcept {
  process_recorder& all = of_process();
  renew(all.mutex);
  all.own_file.reset();
  all.area = nullptr;
  all.prepared = false;
  all.is = process_recorder::state::undecided;
  all.threads = {};
  this_recorder = {};
}

}  // namespace ham::base
