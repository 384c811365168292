// An epoll of pipes, and requests in between.
#include "base/line_reader.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <list>
#include <new>
#include <utility>

#include "base/event_fds.hpp"
#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

constexpr std::size_t bytes_of_a_read = 1 << 16;
constinit thread_local const line_reader* reader_of_this_thread = nullptr;

void watch_pipe(int epoll, int pipe, void* tag) {
  epoll_event interest{EPOLLIN, {.ptr = tag}};
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, pipe, &interest) == 0) return;
  throw config_error("cannot watch a pipe" +
                     refused_call("epoll_ctl", "raise the limit /proc/sys/fs/epoll/max_user_watches"));
}

std::size_t bytes_in_pipe(int pipe) noexcept {
  int count = 0;
  return ::ioctl(pipe, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

struct line_reader::request {
  std::function<void()> act;
  std::condition_variable changed;
  bool done = false;  // guarded by mutex_
};

void line_reader::add(unique_fd pipe, receiver to) {
  ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK);  // it is for reading only: no other flag is lost
  std::list<channel> one;
  one.push_back({std::move(pipe), std::move(to), line_splitter(max_line_)});
  const std::lock_guard guard(mutex_);
  if (stopping_) return;
  if (!thread_.joinable()) {
    epoll_ = make_epoll();
    event_ = make_event();
    watch(epoll_.get(), event_.get(), EPOLLIN, nullptr);
    buffer_.resize(bytes_of_a_read);
    thread_ = start_thread([this] { loop(); });
  }
  watch_pipe(epoll_.get(), one.front().pipe.get(), &one.front());
  added_.splice(added_.end(), one);  // the thread takes it over before any event of it
}

bool line_reader::is_this_thread() const noexcept { return reader_of_this_thread == this; }

void line_reader::run(std::function<void()> act) {
  if (is_this_thread()) {
    act();
    return;
  }
  request mine{std::move(act), {}, false};
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) {
    lock.unlock();
    mine.act();
    return;
  }
  requests_.push_back(&mine);
  signal_event(event_.get());
  mine.changed.wait(lock, [&] { return mine.done; });
}

void line_reader::stop() noexcept {
  std::thread ended;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    if (!thread_.joinable()) return;
    signal_event(event_.get());
    ended = std::move(thread_);
  }
  ended.join();
}

void line_reader::loop() {
  reader_of_this_thread = this;
  do {
    read_events();
  } while (serve_requests());
  deliver_rest();
}

void line_reader::read_events() {
  std::array<epoll_event, 32> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
  take_added();
  for (int i = 0; i < count; ++i) {
    auto* const from = static_cast<channel*>(events[static_cast<std::size_t>(i)].data.ptr);
    if (from == nullptr)
      drain_event(event_.get());
    else if (!read_some(*from, bytes_of_a_read))
      close(*from);
  }
}

void line_reader::take_added() noexcept {
  const std::lock_guard guard(mutex_);
  channels_.splice(channels_.end(), added_);
}

/// False: it is to stop.
bool line_reader::serve_requests() {
  std::vector<request*> requests;
  bool stops = false;
  {
    const std::lock_guard guard(mutex_);
    channels_.splice(channels_.end(), added_);
    requests.swap(requests_);
    stops = stopping_;
  }
  if (!requests.empty()) read_present();
  for (request* const one : requests) {
    one->act();
    const std::lock_guard guard(mutex_);
    one->done = true;
    one->changed.notify_all();
  }
  return !stops;
}

/// What is written meanwhile does not count: somebody may write without end.
void line_reader::read_present() {
  for (auto next = channels_.begin(); next != channels_.end();) {
    channel& one = *next++;
    for (std::size_t left = bytes_in_pipe(one.pipe.get()); left > 0;) {
      const std::size_t size = std::min(left, bytes_of_a_read);
      if (!read_some(one, size)) {
        close(one);
        break;
      }
      left -= size;
    }
  }
}

void line_reader::deliver_rest() noexcept {
  read_present();
  for (channel& one : channels_) one.lines.finish(one.to);
  channels_.clear();
}

/// False: nothing more will come, which the receiver knows.
bool line_reader::read_some(channel& from, std::size_t max_bytes) {
  const ssize_t got = ::read(from.pipe.get(), buffer_.data(), max_bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  try {
    if (got > 0)
      from.lines.add({buffer_.data(), static_cast<std::size_t>(got)}, from.to);
    else
      from.lines.finish(from.to);
  } catch (const std::bad_alloc&) {  // these lines are lost
  }
  return got > 0;
}

void line_reader::close(const channel& ended) noexcept {
  unwatch(epoll_.get(), ended.pipe.get());
  std::erase_if(channels_, [&](const channel& one) { return &one == &ended; });
}

}  // namespace ham::base
