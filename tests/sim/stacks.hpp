// Threads of the C library that take turns on one thread of the kernel: a switch costs some instructions, no system
// call.
//
// Each has what the C library gives a thread: a stack, thread-local variables, a handle. Its own kernel thread sleeps
// from the start and never again runs, so that another one can run on the stack and with the thread-local variables.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace ham::inline v1::sim {

/// Where something stopped; the rest is on its stack.
struct context {
  void* stack_pointer = nullptr;
  void* thread_pointer = nullptr;  ///< to thread-local variables
};

/// Stops the caller in `from`, and goes on where `to` stopped. Returns when somebody switches to `from`.
void switch_context(context& from, const context& to) noexcept;
/// Whether switches make a system call each, as they must where the processor does not let programs change the thread
/// pointer. Nothing else depends on it.
void switch_by_system_calls(bool so) noexcept;

/// A thread that waits for work.
struct idle_thread {
  context at;
  pthread_t handle{};
  char* stack_begin = nullptr;
  char* stack_end = nullptr;
  /// What it does when it is switched to for the first time.
  void* (*work)(void*) = nullptr;
  void* argument = nullptr;

  /// False: it has used more of the stack than there is.
  [[nodiscard]] bool stack_sufficed() const noexcept;
};

/// Makes so many in advance. They are there in processes forked later, too, for which their kernel threads are not.
void make_idle_threads(std::size_t count);
/// One that has not begun; it is the caller's for good. nullptr: the system has no more threads or memory.
[[nodiscard]] idle_thread* take_idle_thread();

}  // namespace ham::sim
