// The futexes of the models: wait for several words, wake, and what the kernel does to the word of a thread that has
// died.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>

#include "explorer/engine.hpp"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace model {

class futexes {
 public:
  struct entry {  // struct futex_waitv
    std::uint64_t value;
    std::uint64_t address;
    std::uint32_t flags;
    std::uint32_t reserved;
  };

  /// False: a word has another value.
  bool wait(const entry* words, unsigned count) {
    sleeper& own = sleepers_[this_thread()];
    const bool sleeps = state_.step(
                            "futex_waitv", {},
                            [&] {
                              for (unsigned i = 0; i < count; ++i) {
                                if (newest(reinterpret_cast<const void*>(words[i].address), 4) != words[i].value)
                                  return 0U;
                              }
                              own.count = std::min(count, max_words);
                              for (unsigned i = 0; i < own.count; ++i) own.words[i] = words[i].address;
                              own.woken = false;
                              return 1U;
                            },
                            place::current()) != 0;
    if (!sleeps) {
      count_pause();  // it may read an old value again and again
      return false;
    }
    state_.step(
        "sleep in futex_waitv", [&own] { return own.woken; },
        [&own] {
          own = {};
          return 0U;
        },
        place::current());
    return true;
  }
  void wake(const void* word, unsigned most) {
    state_.step(
        "futex_wake", {}, [&] { return wake_some(word, most); }, place::current());
  }
  /// The holder of the word, which is on its robust list, has died.
  void holder_dies(void* word) {
    state_.step(
        "the kernel marks the word of the dead", {},
        [&] {
          const auto before = static_cast<std::uint32_t>(newest(word, 4));
          write_newest(word, 4, (before & FUTEX_WAITERS) | FUTEX_OWNER_DIED);
          return (before & FUTEX_WAITERS) != 0 ? wake_some(word, 1) : 0U;
        },
        place::current());
  }

 private:
  static constexpr unsigned max_words = 4;
  struct sleeper {
    std::uint64_t words[max_words]{};
    unsigned count = 0;
    bool woken = false;
  };

  unsigned wake_some(const void* word, unsigned most) {
    unsigned woken = 0;
    for (sleeper& one : sleepers_) {
      if (woken == most) break;
      std::uint64_t* const end = one.words + one.count;
      if (one.woken || std::find(&one.words[0], end, reinterpret_cast<std::uintptr_t>(word)) == end) continue;
      one.woken = true;
      ++woken;
    }
    return woken;
  }

  object state_;
  sleeper sleepers_[max_threads];
};
inline futexes* the_futexes = nullptr;

}  // namespace model

inline long model_syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long result = 0;
  if (number == SYS_gettid) {
    result = 100 + static_cast<long>(model::this_thread());
  } else if (number == SYS_futex) {
    const void* const word = va_arg(arguments, const void*);
    static_cast<void>(va_arg(arguments, int));
    model::the_futexes->wake(word, static_cast<unsigned>(va_arg(arguments, int)));
  } else if (number == SYS_futex_waitv) {
    const auto* const words = va_arg(arguments, const model::futexes::entry*);
    if (!model::the_futexes->wait(words, static_cast<unsigned>(va_arg(arguments, std::size_t)))) {
      errno = EAGAIN;
      result = -1;
    }
  }
  va_end(arguments);
  return result;  // set_robust_list, sched_setattr: done
}
