// Functions of the C library that are seams of the simulation. Outside of one they do what they always do.
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "sim/recording.hpp"
#include "sim/scheduler.hpp"
#include "sim/timers.hpp"

namespace ham::inline v1::sim {
namespace {

/// The C library's own.
template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#define HAM_REAL(name)                                           \
  (*[] {                                                         \
    static auto* const function = next<decltype(::name)>(#name); \
    return function;                                             \
  }())

[[nodiscard]] std::int64_t to_ns(const timespec& time) noexcept {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}
[[nodiscard]] timespec to_timespec(std::int64_t ns) noexcept {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}
[[nodiscard]] std::int64_t after(const timespec* duration) noexcept {
  return duration == nullptr ? never : running->now_ns() + to_ns(*duration);
}

constexpr char io_channel = 0;  // something was written

constinit pthread_key_t last_key = 0;
constinit bool has_last_key = false;

/// Runs after the destructors of thread-local variables and most thread-specific data: the thread's last turn ends.
void end_thread(void* times) noexcept {
  const auto left = reinterpret_cast<std::uintptr_t>(times);
  if (left > 1) {
    ::pthread_setspecific(last_key, reinterpret_cast<void*>(left - 1));  // again, after the others
    return;
  }
  if (simulated()) running->leave();
}

void* begin_thread(void* record) noexcept {
  auto& self = *static_cast<thread_record*>(record);
  running->enter(self);
  ::pthread_setspecific(last_key, reinterpret_cast<void*>(std::uintptr_t{3}));
  return self.work(self.argument);
}

int wait_on(pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t until_ns) noexcept {
  running->flush_stores();
  running->give(mutex);
  HAM_REAL(pthread_mutex_unlock)(mutex);
  running->wake_all(mutex);
  bool woken = true;
  if (running->random().once_in(50))
    running->yield(seam::wait);  // a spurious wake-up
  else
    woken = running->block(condition, until_ns, "a condition");
  ::pthread_mutex_lock(mutex);
  return woken ? 0 : ETIMEDOUT;
}

long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* timeout) noexcept {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      running->flush_stores();
      running->pass(seam::wait);
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        errno = EAGAIN;
        return -1;
      }
      const bool absolute = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
      const std::int64_t until = timeout == nullptr ? never : absolute ? to_ns(*timeout) : after(timeout);
      if (running->block(word, until, "a futex")) return 0;
      errno = ETIMEDOUT;
      return -1;
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      running->flush_stores();
      if (value == 1)
        running->wake_one(word);
      else
        running->wake_all(word);
      running->pass(seam::wake);
      return 1;
    default: running->fail("a futex operation that the simulation does not know");
  }
}

}  // namespace
}  // namespace ham::sim

using namespace ham::sim;

extern "C" {

// ---- mutexes and conditions

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!simulated()) return HAM_REAL(pthread_mutex_lock)(mutex);
  running->pass(seam::lock);
  running->flush_stores();
  int result = 0;
  while ((result = HAM_REAL(pthread_mutex_trylock)(mutex)) == EBUSY)
    static_cast<void>(running->block(mutex, never, "a mutex"));
  running->hold(mutex);
  return result;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (!simulated()) return HAM_REAL(pthread_mutex_trylock)(mutex);
  running->pass(seam::lock);
  running->flush_stores();
  const int result = HAM_REAL(pthread_mutex_trylock)(mutex);
  if (result == 0) running->hold(mutex);
  return result;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (!simulated()) return HAM_REAL(pthread_mutex_unlock)(mutex);
  running->flush_stores();
  running->give(mutex);
  const int result = HAM_REAL(pthread_mutex_unlock)(mutex);
  running->wake_all(mutex);
  running->pass(seam::unlock);
  return result;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!simulated()) return HAM_REAL(pthread_cond_wait)(condition, mutex);
  return wait_on(condition, mutex, never);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  if (!simulated()) return HAM_REAL(pthread_cond_timedwait)(condition, mutex, until);
  return wait_on(condition, mutex, to_ns(*until));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  if (!simulated()) return HAM_REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
  return wait_on(condition, mutex, to_ns(*until));
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (!simulated()) return HAM_REAL(pthread_cond_signal)(condition);
  running->flush_stores();
  running->wake_one(condition);
  running->pass(seam::wake);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (!simulated()) return HAM_REAL(pthread_cond_broadcast)(condition);
  running->flush_stores();
  running->wake_all(condition);
  running->pass(seam::wake);
  return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (!simulated()) return HAM_REAL(pthread_rwlock_rdlock)(lock);
  running->pass(seam::lock);
  running->flush_stores();
  int result = 0;
  while ((result = HAM_REAL(pthread_rwlock_tryrdlock)(lock)) == EBUSY)
    static_cast<void>(running->block(lock, never, "a shared mutex"));
  return result;
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (!simulated()) return HAM_REAL(pthread_rwlock_wrlock)(lock);
  running->pass(seam::lock);
  running->flush_stores();
  int result = 0;
  while ((result = HAM_REAL(pthread_rwlock_trywrlock)(lock)) == EBUSY)
    static_cast<void>(running->block(lock, never, "a shared mutex"));
  return result;
}

int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (!simulated()) return HAM_REAL(pthread_rwlock_unlock)(lock);
  running->flush_stores();
  const int result = HAM_REAL(pthread_rwlock_unlock)(lock);
  running->wake_all(lock);
  running->pass(seam::unlock);
  return result;
}

// ---- threads

int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) noexcept {
  if (!simulated()) return HAM_REAL(pthread_create)(handle, attributes, work, argument);
  running->flush_stores();
  if (!has_last_key) {
    ::pthread_key_create(&last_key, &end_thread);
    has_last_key = true;
  }
  *handle = running->add_thread(&begin_thread, work, argument).handle;
  running->pass(seam::thread);
  return 0;
}

int pthread_join(pthread_t handle, void** result) {
  if (!simulated()) return HAM_REAL(pthread_join)(handle, result);
  thread_record* const other = running->find(handle);
  while (other->now != thread_record::state::done)
    static_cast<void>(running->block(other, never, "the end of a thread"));
  if (result != nullptr) *result = nullptr;
  return 0;
}

int pthread_detach(pthread_t handle) noexcept { return simulated() ? 0 : HAM_REAL(pthread_detach)(handle); }

int pthread_sigmask(int how, const sigset_t* to, sigset_t* before) noexcept {
  if (!simulated()) return HAM_REAL(pthread_sigmask)(how, to, before);
  if (before != nullptr) ::sigemptyset(before);
  return 0;
}

int prctl(int option, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, option);
  unsigned long a[4];
  for (unsigned long& one : a) one = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (simulated() && option == PR_SET_NAME) return 0;
  return HAM_REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

int sched_getcpu() noexcept { return simulated() ? 0 : HAM_REAL(sched_getcpu)(); }

// ---- time

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (!simulated()) return HAM_REAL(clock_gettime)(clock, now);
  running->pass(seam::clock);
  *now = to_timespec(running->clock_ns());
  return 0;
}

int nanosleep(const timespec* duration, timespec* left) {
  if (!simulated()) return HAM_REAL(nanosleep)(duration, left);
  static_cast<void>(running->block(duration, after(duration), "a sleep"));
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (!simulated()) return HAM_REAL(clock_nanosleep)(clock, flags, time, left);
  static_cast<void>(running->block(time, flags == TIMER_ABSTIME ? to_ns(*time) : after(time), "a sleep"));
  return 0;
}

int sched_yield() noexcept {
  if (!simulated()) return HAM_REAL(sched_yield)();
  running->flush_stores();
  running->yield(seam::yield);
  return 0;
}

// ---- input and output

int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  if (!simulated()) return HAM_REAL(epoll_wait)(epoll, events, most, timeout_ms);
  const timespec duration = to_timespec(std::int64_t{timeout_ms} * 1'000'000);
  const timespec* const limit = timeout_ms < 0 ? nullptr : &duration;
  return ::epoll_pwait2(epoll, events, most, limit, nullptr);
}

int epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* timeout, const sigset_t* signals) {
  if (!simulated()) return HAM_REAL(epoll_pwait2)(epoll, events, most, timeout, signals);
  running->flush_stores();
  running->pass(seam::wait);
  const std::int64_t until = after(timeout);
  for (;;) {
    const std::int64_t timer_ns = fire_timers();
    const int ready = HAM_REAL(epoll_wait)(epoll, events, most, 0);
    if (ready != 0 || running->now_ns() >= until) return ready;
    static_cast<void>(running->block(&io_channel, std::min(until, timer_ns), "events"));
  }
}

ssize_t write(int fd, const void* from, size_t size) {
  if (!simulated()) return HAM_REAL(write)(fd, from, size);
  running->flush_stores();
  running->pass(seam::io);
  if (fd == STDOUT_FILENO) {  // what a node prints is no output of this program
    if (on_printed != nullptr) on_printed({static_cast<const char*>(from), size});
    return static_cast<ssize_t>(size);
  }
  const ssize_t result = HAM_REAL(write)(fd, from, size);
  running->wake_all(&io_channel);
  return result;
}

int munmap(void* at, size_t size) noexcept {
  if (simulated()) running->flush_stores();
  return HAM_REAL(munmap)(at, size);
}

ssize_t getrandom(void* to, size_t size, unsigned flags) {
  if (!simulated()) return HAM_REAL(getrandom)(to, size, flags);
  auto* const bytes = static_cast<unsigned char*>(to);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(running->random().next());
  return static_cast<ssize_t>(size);
}

/// Of a simulated process, which somebody has waited for as soon as it has ended.
int kill(pid_t pid, int signal) noexcept {
  if (!simulated() || pid < first_pid) return HAM_REAL(kill)(pid, signal);
  running->flush_stores();
  running->pass(seam::io);
  const int process = static_cast<int>(pid - first_pid);
  if (running->living_threads(process) == 0) {
    errno = ESRCH;
    return -1;
  }
  if (signal == SIGKILL) running->kill(process);
  return 0;
}

/// Simulated processes are children of their job's host.
int waitid(idtype_t what, id_t which, siginfo_t* seen, int options) {
  if (!simulated() || what != P_PID || which < first_pid) return HAM_REAL(waitid)(what, which, seen, options);
  running->pass(seam::io);
  const int process = static_cast<int>(which - first_pid);
  const bool is_child = process % processes_of_job != 0 && process - process % processes_of_job == me->node;
  if (is_child && running->living_threads(process) != 0) return 0;
  errno = ECHILD;
  return -1;
}

/// Of a simulated process: it is killed.
void _exit(int status) {
  if (simulated()) {
    running->kill(me->node);
    for (;;) static_cast<void>(running->block(&me, never, "the end of its process"));
  }
  HAM_REAL(_exit)(status);
  __builtin_unreachable();
}

long syscall(long number, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (long& one : a) one = va_arg(arguments, long);
  va_end(arguments);
  if (!simulated()) return HAM_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_futex) {
    return futex(reinterpret_cast<std::uint32_t*>(a[0]), static_cast<int>(a[1]), static_cast<std::uint32_t>(a[2]),
                 reinterpret_cast<const timespec*>(a[3]));
  }
  if (number == SYS_membarrier &&
      (a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED || a[0] == MEMBARRIER_CMD_GLOBAL_EXPEDITED)) {
    running->pass(seam::atomic);
    running->flush_all_stores();
    return 0;
  }
  return HAM_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // extern "C"

// ---- memory: what is given back must not be written to by a store that is late

void operator delete(void* at) noexcept {
  if (on_delete != nullptr) on_delete(at);
  if (simulated() && !me->stores.empty()) me->stores.write_all();
  std::free(at);
}
void operator delete(void* at, std::size_t) noexcept { ::operator delete(at); }
void operator delete(void* at, std::align_val_t) noexcept { ::operator delete(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { ::operator delete(at); }
void* operator new(std::size_t size) {
  if (void* const made = std::malloc(size != 0 ? size : 1)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* const made = std::aligned_alloc(unit, (size + unit) / unit * unit)) return made;
  throw std::bad_alloc();
}
