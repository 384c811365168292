// Where the socket is listed, under a lock that close() takes as well.
#include "transport/tcp/poll_entry.hpp"

#include <sys/epoll.h>

namespace ham::inline v1::transport::tcp {

void poll_entry::list_in(int epoll) noexcept {
  std::lock_guard guard(mutex_);
  if (dry_ || socket_ < 0) return;
  epoll_event interest{EPOLLIN, {.ptr = data_}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket_, &interest);
}

void poll_entry::take_out(int epoll, bool for_good) noexcept {
  std::lock_guard guard(mutex_);
  if (socket_ >= 0) ::epoll_ctl(epoll, EPOLL_CTL_DEL, socket_, nullptr);
  dry_ = dry_ || for_good;
}

void poll_entry::close() noexcept {
  std::lock_guard guard(mutex_);
  socket_ = -1;
}

}  // namespace ham::transport::tcp
