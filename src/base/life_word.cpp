// Robust futex list and futex_waitv(2), by system call: glibc's robust mutexes have another layout per architecture.
#include "base/life_word.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/thread.hpp"

namespace ham::inline v1::base {
namespace {

constexpr unsigned max_wakes = 32;                    // within
constexpr std::int64_t wakes_counted_ns = 2'000'000;  // this time, else the thread sleeps
constexpr std::int64_t storm_pause_ns = 5'000'000;    // for that long, and learns of deaths that much later
constexpr std::size_t words_per_group = 127;          // futex_waitv takes 128; one is the group's own command word

long wake_all(std::atomic<std::uint32_t>& word) noexcept {
  return ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

struct waiter_entry {  // struct futex_waitv, spelled out for older headers
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};

struct slice_request {  // struct sched_attr up to its sixth member, of policy SCHED_OTHER
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t slice_ns;
  std::uint64_t unused[2];
};

/// A thread that asks for short slices of time gets the core at once when it wakes (Linux 6.12; earlier ones take no
/// notice). Else news of a death can wait for two ticks while the kernel takes the memory of the dead off that core.
void ask_for_short_slices() noexcept {
  slice_request wish{sizeof wish, SCHED_OTHER, 0, ::getpriority(PRIO_PROCESS, 0), 0, 100'000, {}};
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &wish, 0));
}

bool died(std::uint32_t value) noexcept { return (value & FUTEX_OWNER_DIED) != 0; }

}  // namespace

bool holder_died(const life_word& word) noexcept { return died(word.load(std::memory_order_acquire)); }

void wake_watchers(life_word& word) noexcept { wake_all(word); }

/// One watching thread; the first one of a process also holds the process's own word.
class life_watch::group {
 public:
  group(life_watch& watch, life_word* own) : watch_(watch), own_(own), thread_(start_thread([this] { run(); })) {
    if (own_ == nullptr) return;
    backoff<backoff_schedule{.yields = 0, .sleep_ns = 20'000}> pause;
    while (!held_.load(std::memory_order_acquire) && !failed_.load(std::memory_order_acquire)) pause.wait();
  }
  ~group() {
    stop_.store(true);
    command_.fetch_add(1);
    wake_all(command_);
    thread_.join();
  }

  void remove(std::uint64_t cookie) {
    std::lock_guard guard(mutex_);
    if (std::erase_if(words_, [cookie](const watched& one) { return one.cookie == cookie; }) == 0) return;
    command_.fetch_add(1);
    wake_all(command_);
  }

  bool add(life_word& word, std::uint64_t cookie) {
    std::lock_guard guard(mutex_);
    if (words_.size() >= words_per_group) return false;
    words_.push_back({&word, cookie});
    command_.fetch_add(1);
    wake_all(command_);
    return true;
  }

 private:
  struct watched {
    life_word* word;
    std::uint64_t cookie;
  };

  void run() {
    ask_for_short_slices();
    struct {
      robust_list_head head;
      robust_list entry;
    } robust{};  // lives on this stack: the kernel reads it when the thread dies
    if (own_ != nullptr) hold(robust.head, robust.entry);
    while (!stop_.load()) wait_once();
    if (own_ != nullptr) {
      own_->store(0, std::memory_order_release);
      robust.head.list.next = &robust.head.list;
      wake_all(*own_);
    }
  }

  void hold(robust_list_head& head, robust_list& entry) {
    head.list.next = &entry;
    head.futex_offset = reinterpret_cast<char*>(own_) - reinterpret_cast<char*>(&entry);
    entry.next = &head.list;
    if (::syscall(SYS_set_robust_list, &head, sizeof head) != 0) {
      failed_.store(true, std::memory_order_release);  // an emulator: pidfd and end-of-file tell of our death instead
      return;
    }
    own_->store(static_cast<std::uint32_t>(::syscall(SYS_gettid)), std::memory_order_release);
    // Not the word, which others may write to as well, says that it is held.
    held_.store(true, std::memory_order_release);
    wake_all(*own_);  // watchers that slept on zero look again and ask to be woken
  }

  void wait_once() {
    const std::uint32_t command = command_.load();
    if (stop_.load()) return;  // behind the command: a later end changes that, and does not let the thread sleep
    std::vector<watched> now;
    std::vector<std::uint64_t> dead;
    {
      std::lock_guard guard(mutex_);
      now = words_;
    }
    std::vector<waiter_entry> entries{entry_for(command_, command)};
    for (const watched& one : now) {
      std::uint32_t value = one.word->load(std::memory_order_acquire);
      // The kernel wakes only where it is told that somebody waits.
      while (value != 0 && !died(value) && (value & FUTEX_WAITERS) == 0) {
        if (one.word->compare_exchange_weak(value, value | FUTEX_WAITERS)) value |= FUTEX_WAITERS;
      }
      if (died(value))
        dead.push_back(one.cookie);
      else
        entries.push_back(entry_for(*one.word, value));
    }
    if (!dead.empty()) {
      forget(dead);
      return;
    }
    if (::syscall(SYS_futex_waitv, entries.data(), entries.size(), 0, nullptr, CLOCK_MONOTONIC) < 0 &&
        errno != EAGAIN && errno != EINTR) {
      sleep_ns(20'000'000);
    }
    // The kernel wakes one watcher of a word. If this is the one, it tells the others, also of a word that it was asked
    // to watch no longer meanwhile.
    for (const watched& one : now) {
      if (holder_died(*one.word)) wake_all(*one.word);
    }
    slow_down();
  }

  /// A word that somebody changes all the time must not cost a core.
  void slow_down() {
    if (++wakes_ < max_wakes) return;
    wakes_ = 0;
    const std::int64_t now = now_ns();
    if (now - counted_since_ns_ < wakes_counted_ns) sleep_ns(storm_pause_ns);
    counted_since_ns_ = now_ns();
  }

  static waiter_entry entry_for(std::atomic<std::uint32_t>& word, std::uint32_t value) {
    return {value, reinterpret_cast<std::uintptr_t>(&word), 2 /* FUTEX_32, shared */, 0};
  }

  void forget(const std::vector<std::uint64_t>& dead) {
    {
      std::lock_guard guard(mutex_);
      for (std::uint64_t cookie : dead) {
        std::erase_if(words_, [&](const watched& one) { return one.cookie == cookie; });
      }
    }
    for (std::uint64_t cookie : dead) watch_.on_death_(cookie);
  }

  life_watch& watch_;
  life_word* own_;
  std::mutex mutex_;
  std::vector<watched> words_;
  std::atomic<std::uint32_t> command_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> held_{false};
  std::atomic<bool> failed_{false};
  unsigned wakes_ = 0;  // of its thread, as the next one
  std::int64_t counted_since_ns_ = 0;
  std::thread thread_;
};

life_watch::life_watch(life_word& own, death_handler on_death) : own_(own), on_death_(std::move(on_death)) {
  groups_.push_back(std::make_unique<group>(*this, &own_));
}

life_watch::~life_watch() = default;

void life_watch::unwatch(std::uint64_t cookie) {
  std::lock_guard guard(mutex_);
  for (auto& one : groups_) one->remove(cookie);
}

void life_watch::watch(life_word& other, std::uint64_t cookie) {
  std::lock_guard guard(mutex_);
  for (auto& one : groups_) {
    if (one->add(other, cookie)) return;
  }
  groups_.push_back(std::make_unique<group>(*this, nullptr));
  groups_.back()->add(other, cookie);
}

}  // namespace ham::base
