// A core to wake up on, for the thread that does a node's waiting.
#pragma once

#include <sched.h>

#include <cstdint>
#include <memory>

namespace ham::inline v1::base {

/// The core that a node of a job has to itself. Nothing is bound to it: the thread is kept to the core only while it
/// sleeps in the library, and is brought back if it waits elsewhere. What the application executes, starts or asks for
/// sees all cores that the process was given, and the kernel may move it (docs/decisions/0010-placement.md).
///
/// One object per node, for one of its threads: the one that calls adopt_thread(). In others it does nothing.
class home_core {
 public:
  /// `machine_cores`: 0: as many as the machine has (for tests).
  explicit home_core(unsigned machine_cores = 0);
  ~home_core();  ///< on any thread
  home_core(const home_core&) = delete;
  home_core& operator=(const home_core&) = delete;

  /// From now on for the calling thread, unless that has an object of this kind already.
  void adopt_thread();

  /// While it lives the calling thread sleeps, and wakes up on `core`; negative, or where that does not pay: anywhere.
  class asleep {
   public:
    asleep(home_core& of, int core) noexcept;
    ~asleep();
    asleep(const asleep&) = delete;
    asleep& operator=(const asleep&) = delete;

   private:
    home_core& of_;
    bool narrowed_ = false;
    std::int64_t queued_ns_ = -1;
    cpu_set_t before_;
  };

  /// Brings the calling thread to its core if it has one and runs on another. For moments in which it has nothing to do
  /// or has just woken somebody. Costs nanoseconds, and some 30 microseconds at most once a millisecond.
  static void go_home() noexcept;

  struct state;

 private:
  std::shared_ptr<state> state_;
};

}  // namespace ham::base
