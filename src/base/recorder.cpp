// Where the events of a process go. The memory is never unmapped: threads may record until the process ends.
#include "base/recorder.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "base/immortal.hpp"
#include "base/memory_file.hpp"
#include "base/renew.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

/// Keys of functions that are no handlers. That of a parent stays as it is: its threads may just have changed it.
struct named_functions {
  std::map<std::string, std::uint32_t, std::less<>> keys{};
  named_functions* former = nullptr;
};

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
  named_functions* named = nullptr;                                 // made when the first one comes
  named_functions* former = nullptr;                                // of the process that has forked this one
  std::size_t names_bytes = 0;

  bool prepare() noexcept;
  recorder_ring* claim() noexcept;
  std::uint32_t key_of(std::string_view name);
};

process_recorder& of_process() { return immortal<process_recorder>(); }

recorder_area* map_area(int fd, std::uint64_t offset) noexcept {
  void* const at = ::mmap(nullptr, recorder_area::bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                          static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<recorder_area*>(at);
}

/// False: there is no room.
bool write_name(std::string_view name, std::span<std::byte>& into) noexcept {
  const auto size = static_cast<std::uint16_t>(std::min<std::size_t>(name.size(), UINT16_MAX));
  if (sizeof size + size > into.size()) return false;
  std::memcpy(into.data(), &size, sizeof size);
  std::memcpy(into.data() + sizeof size, name.data(), size);
  into = into.subspan(sizeof size + size);
  return true;
}

std::uint32_t write_names(recorder_names name_of, std::span<std::byte>& into) noexcept {
  std::uint32_t count = 0;
  for (std::string_view name; name_of(count, name) && write_name(name, into); ++count) {
  }
  return count;
}

/// False: there is no memory.
bool process_recorder::prepare() noexcept {
  if (prepared) return true;
  recorder_head head{};
  head.pid = ::getpid();
  head.node = node;
  head.source = own_tick_source;
  head.start_ticks = read_ticks();  // not behind the memory, which takes long: the first event has begun already
  head.start_ns = now_ns();
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
  std::span<std::byte> room = area->names;
  head.names = write_names(names, room);
  names_bytes = sizeof area->names - room.size();
  std::memcpy(&area->head, &head, sizeof head);
  __atomic_store_n(&area->head.magic, recorder_head::magic_value, __ATOMIC_RELEASE);
  prepared = true;
  return true;
}

/// Of a function that is no handler.
std::uint32_t process_recorder::key_of(std::string_view name) {
  constexpr std::uint32_t none = UINT32_MAX;
  if (is != state::on || !prepared) return none;
  if (named == nullptr) named = new named_functions{{}, former};
  auto& keys = named->keys;
  if (const auto known = keys.find(name); known != keys.end()) return known->second;
  std::span<std::byte> room = std::span(area->names).subspan(names_bytes);
  const auto count = static_cast<std::uint32_t>(keys.size());
  const auto fresh = keys.try_emplace(std::string(name), first_named_function + count).first;
  if (!write_name(name, room)) {
    keys.erase(fresh);
    return none;
  }
  names_bytes = sizeof area->names - room.size();
  __atomic_store_n(&area->head.named, count + 1, __ATOMIC_RELEASE);
  return fresh->second;
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

void thread_recorder::name_execution(std::uint32_t function) noexcept {
  if (ring_ == nullptr || depth_ == 0) return;
  recorded_event& open = ring_->open[place_of(depth_ - 1)];
  if (const recorded_event one = open; one.kind() == recorded_kind::executing)
    store_event(open, recorded_event::make(one.kind(), one.ticks, one.peer(), function, one.call()));
}

std::uint32_t named_function(std::string_view name) noexcept {
  constexpr std::size_t max_name = 200;
  std::size_t cut = std::min(name.size(), max_name);
  const auto continues = [name](std::size_t at) { return (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80; };
  if (cut < name.size()) {  // a character of UTF-8 has at most three bytes after its first
    for (int back = 0; back < 3 && continues(cut); ++back) --cut;
    if (continues(cut)) cut = max_name;
  }
  try {
    process_recorder& all = of_process();
    std::lock_guard guard(all.mutex);
    return all.key_of(name.substr(0, cut));
  } catch (...) {  // no memory
    return UINT32_MAX;
  }
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
  if (all.named != nullptr) all.former = std::exchange(all.named, nullptr);
  all.names_bytes = 0;
  this_recorder = {};
}

}  // namespace ham::base
