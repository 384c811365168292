// Each thread writes into a chunk of the file that is mapped, so that a killed process has left it. A full one is
// copied behind the others, and used again: a page that is written by a system call costs a fraction of a page that is
// mapped.
#include "base/tracer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/immortal.hpp"
#include "base/memory_file.hpp"
#include "base/renew.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {

constinit std::atomic<std::uint32_t> trace_session{0};
constinit thread_local thread_tracer this_tracer;

/// The file, and what it has room for.
class trace_of_process {
 public:
  void open(const trace_setup& how);
  void close() noexcept;
  bool claim(thread_tracer& by, std::int32_t node, std::size_t events) noexcept;

  std::mutex mutex;
  unique_fd file;

 private:
  friend void detach_tracer_after_fork() noexcept;
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept;
  [[nodiscard]] void* map_more(std::size_t bytes) noexcept;
  [[nodiscard]] bool begin_chunk(thread_tracer& by, std::uint32_t session) noexcept;
  [[nodiscard]] bool save_chunk(thread_tracer& by) noexcept;
  void write_names() noexcept;
  void take_reading() noexcept;

  trace_head* head_ = nullptr;
  std::uint64_t used_ = 0;
  std::uint64_t max_ = 0;
  std::uint32_t sessions_ = 0;
  std::uint64_t chunks_ = 0;  ///< that threads have been given
  recorder_names names_ = nullptr;
  std::uint32_t names_written_ = 0;
};

namespace {

constexpr std::size_t max_name = 200;

std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

trace_of_process& traced_process() { return immortal<trace_of_process>(); }

/// A thread that ends leaves its place.
struct end_of_tracer {
  bool here = false;
  thread_tracer* of = nullptr;
  void (*leave)(thread_tracer&) noexcept = nullptr;
  ~end_of_tracer() {
    if (of != nullptr) leave(*of);
  }
};

template <std::size_t Size>
void copy_text(char (&to)[Size], const char* from) noexcept {
  std::memcpy(to, from, ::strnlen(from, Size - 1));  // into zeros
}

/// The clock runs from the start of the system, which this tells from others.
void read_boot(std::uint64_t (&boot)[2]) noexcept {
  const unique_fd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 48> text{};
  if (!file || ::read(file.get(), text.data(), text.size() - 1) < 36) return;
  std::uint64_t digits = 0;
  for (const char c : text) {
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) continue;
    boot[digits / 16] = boot[digits / 16] << 4U | static_cast<std::uint64_t>(value);
    if (++digits == 32) return;
  }
}

unique_fd make_trace_file(const std::string& path) {
  if (path.empty()) return make_memory_file("ham-trace", 0);
  unique_fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made)
    throw config_error("cannot make " + path + " (" + std::strerror(errno) + "); choose another file by HAM_TRACE");
  return made;
}

}  // namespace

bool trace_of_process::has_room(std::size_t bytes) const noexcept {
  return used_ + bytes <= max_ && used_ + bytes <= max_file_bytes();
}

/// Memory behind what is used, which nobody can take away; nullptr: there is none.
void* trace_of_process::map_more(std::size_t bytes) noexcept {
  if (!has_room(bytes)) return nullptr;
  const auto at = static_cast<off_t>(used_);
  if (::posix_fallocate(file.get(), at, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* const made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.get(), at);
  if (made == MAP_FAILED) return nullptr;
  used_ += bytes;
  return made;
}

/// Throws ham::config_error.
void trace_of_process::open(const trace_setup& how) {
  unique_fd fresh = make_trace_file(how.path);
  file = std::move(fresh);
  used_ = 0;
  max_ = how.max_bytes;
  names_ = how.names;
  names_written_ = 0;
  if (head_ != nullptr) ::munmap(head_, trace_step);
  head_ = static_cast<trace_head*>(map_more(trace_step));
  if (head_ == nullptr) {
    file.reset();
    throw config_error("cannot trace to " + (how.path.empty() ? "memory" : how.path) +
                       " (there is no room); free some, or choose another file by HAM_TRACE");
  }
  head_->job = how.job;
  head_->pid = ::getpid();
  head_->node = how.node;
  head_->source = own_tick_source;
  head_->start = tick_reading::now();
  head_->latest[0] = head_->start;
  read_boot(head_->boot);
  utsname system{};
  copy_text(head_->machine, ::uname(&system) == 0 ? system.nodename : "unknown");
  copy_text(head_->program, program_invocation_short_name);
  __atomic_store_n(&head_->magic, trace_head::magic_value, __ATOMIC_RELEASE);
  write_names();
  trace_session.store(++sessions_, std::memory_order_release);
}

void trace_of_process::close() noexcept {
  trace_session.store(0, std::memory_order_relaxed);
  if (head_ == nullptr) return;
  take_reading();
  write_names();  // of libraries that were loaded meanwhile
}

void trace_of_process::take_reading() noexcept {
  const std::uint64_t next = (head_->which + 1) % 2;
  head_->latest[next] = tick_reading::now();
  __atomic_store_n(&head_->which, next, __ATOMIC_RELEASE);
}

void trace_of_process::write_names() noexcept {
  std::string_view name;
  while (names_ != nullptr && names_(names_written_, name)) {
    auto* const chunk = static_cast<trace_chunk*>(map_more(trace_step));
    if (chunk == nullptr) return;
    chunk->bytes = trace_step;
    chunk->holds = trace_chunk::names;
    chunk->first = names_written_;
    auto* at = reinterpret_cast<std::byte*>(chunk + 1);
    const std::byte* const end = reinterpret_cast<std::byte*>(chunk) + trace_step;
    do {
      const auto size = static_cast<std::uint16_t>(std::min<std::size_t>(name.size(), UINT16_MAX / 2));
      if (static_cast<std::size_t>(end - at) < sizeof size + size) break;
      std::memcpy(at, &size, sizeof size);
      std::memcpy(at + sizeof size, name.data(), size);
      at += sizeof size + size;
      ++chunk->count;
    } while (names_(++names_written_, name));
    __atomic_store_n(&chunk->magic, trace_chunk::magic_value, __ATOMIC_RELEASE);
    ::munmap(chunk, trace_step);
  }
}

/// The thread writes there from now on. False: there is no room.
bool trace_of_process::begin_chunk(thread_tracer& by, std::uint32_t session) noexcept {
  if (by.chunk_ != nullptr) ::munmap(by.chunk_, trace_step);
  by.chunk_ = static_cast<trace_chunk*>(map_more(trace_step));
  by.next_ = by.end_ = nullptr;
  by.session_ = session;
  if (by.chunk_ == nullptr) return false;
  trace_chunk& chunk = *by.chunk_;
  chunk.bytes = trace_step;
  chunk.holds = trace_chunk::events;
  chunk.thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  chunk.serial = ++chunks_ << 32U;
  by.end_ = reinterpret_cast<trace_event*>(reinterpret_cast<std::byte*>(&chunk) + trace_step);
  return true;
}

/// Its chunk is empty again, what was in there is in the file. False: there is no room, and it stays as it is. Who is
/// killed meanwhile leaves both, with the same serial.
bool trace_of_process::save_chunk(thread_tracer& by) noexcept {
  trace_chunk& chunk = *by.chunk_;
  auto* const first = reinterpret_cast<trace_event*>(&chunk + 1);
  if (by.next_ == first) return true;
  if (!has_room(trace_step)) return false;
  const auto* const from = reinterpret_cast<const std::byte*>(&chunk);
  const auto size = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(by.next_) - from);
  if (::pwrite(file.get(), from, size, static_cast<off_t>(used_)) != static_cast<ssize_t>(size)) return false;
  used_ += trace_step;
  std::memset(static_cast<void*>(first), 0, size - sizeof chunk);
  __atomic_store_n(&chunk.serial, chunk.serial + 1, __ATOMIC_RELEASE);
  return true;
}

/// Room for events of the thread in a row. False: there is none, and they are counted as dropped.
bool trace_of_process::claim(thread_tracer& by, std::int32_t node, std::size_t events) noexcept {
  const std::uint32_t session = trace_session.load(std::memory_order_acquire);
  if (session == 0 || by.ended_) return false;
  if (node < 0) node = head_->node;
  take_reading();
  const bool has_chunk = by.chunk_ != nullptr && by.session_ == session;
  if (!(has_chunk ? save_chunk(by) : begin_chunk(by, session))) {
    __atomic_fetch_add(&head_->dropped, events, __ATOMIC_RELAXED);
    return false;
  }
  trace_chunk& chunk = *by.chunk_;
  chunk.node = by.node_ = node;
  ::pthread_getname_np(::pthread_self(), chunk.name, sizeof chunk.name);
  __atomic_store_n(&chunk.magic, trace_chunk::magic_value, __ATOMIC_RELEASE);
  by.next_ = reinterpret_cast<trace_event*>(&chunk + 1);
  static_assert(sizeof(trace_chunk) % sizeof(trace_event) == 0 && trace_step % sizeof(trace_event) == 0);
  return by.next_ + events <= by.end_;
}

bool thread_tracer::claim(std::int32_t node, std::size_t events) noexcept {
  const int before = errno;
  trace_of_process& all = traced_process();
  thread_local end_of_tracer end;
  if (end.of == nullptr && !ended_) {
    end.of = this;
    end.leave = [](thread_tracer& mine) noexcept {
      if (mine.chunk_ != nullptr) ::munmap(mine.chunk_, trace_step);
      mine = thread_tracer();
      mine.ended_ = true;
    };
  }
  const std::lock_guard guard(all.mutex);
  const bool claimed = all.claim(*this, node, events);
  errno = before;
  return claimed;
}

std::uint64_t thread_tracer::number_of(std::int32_t node, std::string_view name) noexcept {
  name = name.substr(0, max_name);
  const std::uint64_t number = fnv1a(name) | 1;
  write_name(node, number, name);
  return number;
}

/// Unless the thread has written it just before.
void thread_tracer::write_name(std::int32_t node, std::uint64_t number, std::string_view name) noexcept {
  const std::uint32_t session = trace_session.load(std::memory_order_relaxed);
  if (session == session_ && known_[number / 2 % max_known] == number) return;
  const std::size_t events = 1 + (name.size() + sizeof(trace_event) - 1) / sizeof(trace_event);
  const bool fits = session == session_ && node == node_ && static_cast<std::size_t>(end_ - next_) >= events;
  if (session != session_) std::fill(std::begin(known_), std::end(known_), 0);
  if (!fits && !claim(node, events)) return;
  std::memcpy(static_cast<void*>(next_ + 1), name.data(), name.size());
  store_event(*next_, trace_event::make(trace_kind::name, 0, name.size(), 0, number));
  next_ += events;
  known_[number / 2 % max_known] = number;
}

void thread_tracer::name_execution(std::uint32_t function) noexcept {
  constexpr std::uint32_t ping = UINT32_MAX;
  if (innermost_ == nullptr || innermost_->begun_ == 0) return;
  if (const auto call = static_cast<std::uint32_t>(innermost_->what_ >> 32U); call != ping)
    innermost_->what_ = trace_event::pair(function, call);
}

void thread_tracer::name_execution(std::string_view name) noexcept {
  if (innermost_ == nullptr || innermost_->begun_ == 0) return;
  name = name.substr(0, max_name);
  const auto key = first_named_function | static_cast<std::uint32_t>(fnv1a(name));
  write_name(innermost_->node_, key, name);
  name_execution(key);
}

void traced_execution::end() noexcept {
  thread_tracer& mine = this_tracer;
  if (mine.innermost_ != this) return;  // the function has forked, and this is the child
  mine.innermost_ = outer_;
  if (!tracing()) return;
  const std::uint64_t end = reply_ended_ != 0 ? reply_ended_ : read_ticks();
  // A tick at least, which says that there was one.
  const std::uint64_t reply =
      reply_ended_ == 0 ? 0 : std::max<std::uint64_t>(reply_begun_ != 0 ? end - reply_begun_ : 1, 1);
  mine.add(node_, trace_event::make(queued_ ? trace_kind::queued : kind_, begun_, end,
                                    trace_event::pair(static_cast<std::uint32_t>(peer_), reply), what_));
}

bool begin_trace(const trace_setup& how) {
  trace_of_process& all = traced_process();
  const std::lock_guard guard(all.mutex);
  if (tracing()) return false;
  all.open(how);
  return true;
}

void end_trace() noexcept {
  trace_of_process& all = traced_process();
  const std::lock_guard guard(all.mutex);
  all.close();
}

int trace_file() noexcept {
  trace_of_process& all = traced_process();
  const std::lock_guard guard(all.mutex);
  return all.file.get();
}

void detach_tracer_after_fork() noexcept {
  trace_of_process& all = traced_process();
  renew(all.mutex);
  trace_session.store(0, std::memory_order_relaxed);
  all.file.reset();
  all.head_ = nullptr;
  this_tracer = {};
}

}  // namespace ham::base
