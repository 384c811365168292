// Threads of the library's own: they take no signals away from the application's threads.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace ham::inline v1::base {

/// True on threads that start_thread made: code there must not wait for the library to end.
inline constinit thread_local bool on_library_thread = false;

/// Name of the library's threads: for people, and to tell them from the threads of the application.
inline constexpr const char* library_thread_name = "ham";

/// The first thing that a thread of the library does.
inline void begin_library_thread() noexcept {
  on_library_thread = true;
  ::prctl(PR_SET_NAME, library_thread_name);
}

/// What errors of those who start threads begin with; the reason follows.
inline constexpr const char* no_thread =
    "cannot start a thread (look at the limit of processes, ulimit -u, of address space, ulimit -v, and at filters of "
    "system calls, which must allow clone3 or say ENOSYS)";

/// While it lives, the calling thread takes no signals but those that its own faults raise, nor do threads it starts.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t blocked;
    ::sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) ::sigdelset(&blocked, fault);
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

/// Starts a thread with all signals blocked except those that its own faults raise: handlers, sigwait and default
/// actions stay a matter of the application's threads. Throws std::system_error.
template <class Work>
[[nodiscard]] std::thread start_thread(Work work) {
  const signals_blocked guard;
  try {
    return std::thread([work = std::move(work)]() mutable {
      begin_library_thread();
      work();
    });
  } catch (const std::system_error& refused) {
    throw std::system_error(refused.code(), no_thread);  // which said the reason only
  }
}

/// A thread as start_thread makes them, with a stack of a given size. Is joined before it is destroyed.
class sized_thread {
 public:
  sized_thread() = default;
  /// 0 bytes: the size that threads usually have. Throws std::system_error.
  sized_thread(std::function<void()> work, std::size_t stack_bytes) {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    int error = stack_bytes == 0 ? 0 : ::pthread_attr_setstacksize(&attributes, stack_bytes);
    auto boxed = std::make_unique<std::function<void()>>(std::move(work));
    const signals_blocked guard;
    if (error == 0) error = ::pthread_create(&thread_, &attributes, &run, boxed.get());
    ::pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category(), no_thread);
    static_cast<void>(boxed.release());
  }
  void join() noexcept { ::pthread_join(thread_, nullptr); }

 private:
  static void* run(void* boxed) {
    begin_library_thread();
    const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(boxed));
    (*work)();
    return nullptr;
  }
  pthread_t thread_{};
};

}  // namespace ham::base
