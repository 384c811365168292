// Edge-triggered epoll in place of reading the counter.
#include "base/shared_event.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cstdint>

#include "base/event_fds.hpp"

namespace ham::inline v1::base {

void ring_event(int event) noexcept {
  const std::uint64_t none = 0;
  [[maybe_unused]] const ssize_t written = ::write(event, &none, sizeof none);
}

shared_event::shared_event(int event) : epoll_(make_epoll()) {
  // Writable or readable: one of the two is true of any counter, or an edge would not be told.
  watch(epoll_.get(), event, EPOLLIN | EPOLLOUT | EPOLLET, nullptr);
  drain();  // its state at the start is told, too
  ring_event(event);
  wakes_ = take();
}

bool shared_event::take() noexcept {
  epoll_event told{};
  return ::epoll_wait(epoll_.get(), &told, 1, 0) == 1;
}

void shared_event::drain() noexcept { static_cast<void>(take()); }

}  // namespace ham::base
