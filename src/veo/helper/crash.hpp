// What becomes of a crash in a kernel: the request's answer names the signal, then the helper dies of it.
#pragma once

#include <setjmp.h>

#include <atomic>

namespace ham::inline v1::veo {

/// Where a thread goes on after a fault. Lives on the stack of the thread that executes a request.
struct landing {
  sigjmp_buf place;
  bool harmless = false;  ///< faults of access to memory are an answer, not a crash
};

/// The calling thread's landing while a request runs; nullptr: none does.
void set_landing(landing* at) noexcept;

/// Gets the calling thread ready for requests: a stack for handlers of its own. False, and cheap, when it has been
/// called before.
bool prepare_thread();
/// Puts handlers in place for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT.
void catch_faults();

/// A thread has crashed and landed: no request begins any more, and the process soon dies of `signal`.
void begin_to_die(int signal) noexcept;
/// Does not return once a thread has crashed.
void stop_if_crashing() noexcept;

/// Runs `work` with a landing. The number of the signal that it raised, or 0.
template <class Work>
int run_caught(bool harmless, Work& work) noexcept {
  landing here;
  here.harmless = harmless;
  const int signal = sigsetjmp(here.place, 0);
  if (signal != 0) {
    set_landing(nullptr);
    return signal;
  }
  set_landing(&here);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  work();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  set_landing(nullptr);
  return 0;
}

}  // namespace ham::veo
