// A thread that waits for descriptors and for points in time, and does what is due on them.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"

namespace ham::inline v1::transport::tcp {

class io_thread {
 public:
  /// Has descriptors watched. Called on the thread.
  class source {
   public:
    virtual void on_events(std::uint32_t events) = 0;

   protected:
    ~source() = default;
  };
  /// What is due apart from descriptors. Called on the thread.
  class work {
   public:
    /// When turn() must be called at the latest, in base::now_ns(). It is also called after every event.
    [[nodiscard]] virtual std::int64_t next_ns() const = 0;
    /// False: the thread ends.
    [[nodiscard]] virtual bool turn() = 0;

   protected:
    ~work() = default;
  };

  /// Throws ham::config_error.
  io_thread();
  ~io_thread() { join(); }

  void start(work& what);
  /// Waits until turn() has said false. May be called again, and if it was never started.
  void join() noexcept;

  /// Any thread: calls `what` on this one; dropped once this one has ended.
  void post(std::function<void()> what);
  /// Any thread: turn() is called soon.
  void wake() noexcept;
  /// Events of `fd` go to `to`, until unwatch(); nullptr: they only wake the thread. Any thread.
  void watch(int fd, std::uint32_t events, source* to) noexcept;
  /// On the thread. Events of this round may still come.
  void unwatch(int fd) noexcept;

 private:
  void run(work& what);
  void run_posted();

  base::unique_fd epoll_;
  base::unique_fd event_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ham::transport::tcp
