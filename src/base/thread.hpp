// Threads of the library's own: they take no signals away from the application's threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace ham::base {

/// True on threads that start_thread made: code there must not wait for the library to end.
inline constinit thread_local bool on_library_thread = false;

/// Starts a thread with all signals blocked except those that its own faults raise: handlers, sigwait and default
/// actions stay a matter of the application's threads.
template <class Work>
[[nodiscard]] std::thread start_thread(Work work) {
  sigset_t blocked;
  sigset_t before;
  ::sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) ::sigdelset(&blocked, fault);
  ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
  struct restore {
    const sigset_t& mask;
    ~restore() { ::pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const guard{before};
  return std::thread([work = std::move(work)]() mutable {
    on_library_thread = true;
    work();
  });
}

}  // namespace ham::base
