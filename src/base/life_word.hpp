// A word in shared memory that the kernel marks when the process that holds it ends, however it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ham::inline v1::base {

/// Shared; 0 until its process holds it and again after an orderly end. Who can write to it can forge it: where that
/// may be, what it says is a reason to ask the kernel (confirms_end).
using life_word = std::atomic<std::uint32_t>;
static_assert(sizeof(life_word) == 4 && life_word::is_always_lock_free);

/// Whether the process that held the word has ended other than in order.
[[nodiscard]] bool holder_died(const life_word& word) noexcept;

/// All that watch the word look at it again. The kernel wakes one of them when the holder dies, and that one passes it
/// on; if it dies before it can, this helps.
void wake_watchers(life_word& word) noexcept;

/// Threads of this process that hold its own life word and sleep on those of others (robust futex list, futex_waitv).
/// Some 50 us from the death of a process to the callback, whatever its size; idle otherwise.
class life_watch {
 public:
  /// `on_death(cookie)` is called on a watching thread, once per word watched.
  using death_handler = std::function<void(std::uint64_t cookie)>;

  /// Holds `own` from now on. `own` must outlive this object.
  life_watch(life_word& own, death_handler on_death);
  /// Gives the own word up in order: watchers elsewhere are not told.
  ~life_watch();
  life_watch(const life_watch&) = delete;
  life_watch& operator=(const life_watch&) = delete;

  /// Watches the word of another process. Any thread.
  void watch(life_word& other, std::uint64_t cookie);
  /// Watches it no longer. A callback that has begun may still come. Any thread.
  void unwatch(std::uint64_t cookie);

 private:
  class group;
  life_word& own_;
  death_handler on_death_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<group>> groups_;
};

}  // namespace ham::base
