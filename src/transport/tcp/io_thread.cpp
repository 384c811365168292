// One round: what was posted, what is due, then sleep until there is more.
#include "transport/tcp/io_thread.hpp"

#include <sys/epoll.h>

#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"

namespace ham::inline v1::transport::tcp {
namespace {
constexpr int max_events = 64;
constexpr std::int64_t pause_ns = 10'000'000;  // after a round that failed
}  // namespace

io_thread::io_thread() : epoll_(base::make_epoll()), event_(base::make_event()) {
  watch(event_.get(), EPOLLIN, nullptr);
}

void io_thread::start(work& what) {
  thread_ = base::start_thread([this, &what] { run(what); });
}

void io_thread::join() noexcept {
  if (thread_.joinable()) thread_.join();
}

void io_thread::post(std::function<void()> what) {
  {
    std::lock_guard guard(mutex_);
    posted_.push_back(std::move(what));
  }
  wake();
}

void io_thread::wake() noexcept { base::signal_event(event_.get()); }

void io_thread::watch(int fd, std::uint32_t events, source* to) noexcept { base::watch(epoll_.get(), fd, events, to); }

void io_thread::unwatch(int fd) noexcept { base::unwatch(epoll_.get(), fd); }

void io_thread::run_posted() {
  base::drain_event(event_.get());
  std::vector<std::function<void()>> now;
  {
    std::lock_guard guard(mutex_);
    now.swap(posted_);
  }
  for (auto one = now.begin(); one != now.end(); ++one) {
    try {
      (*one)();
    } catch (...) {
      std::lock_guard guard(mutex_);  // it, and those behind it, once more
      posted_.insert(posted_.begin(), std::make_move_iterator(one), std::make_move_iterator(now.end()));
      throw;
    }
  }
}

void io_thread::run(work& what) {
  for (;;) {
    try {
      run_posted();
      if (!what.turn()) return;
    } catch (const std::exception& problem) {  // no memory left, most likely: what could not be done is tried again
      base::log("tcp", base::log_level::warning, "the thread for connections goes on after: %s", problem.what());
      base::sleep_ns(pause_ns);
      wake();
    }
    epoll_event events[max_events];
    const int count = ::epoll_wait(epoll_.get(), events, max_events, base::milliseconds_until(what.next_ns()));
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr != nullptr) static_cast<source*>(events[i].data.ptr)->on_events(events[i].events);
    }
  }
}

}  // namespace ham::transport::tcp
