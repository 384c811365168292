// A socket's place in the epoll of those that wait for frames.
#pragma once

#include <mutex>

namespace ham::inline v1::transport::tcp {

/// Any thread. The socket must not be closed before close().
class poll_entry {
 public:
  poll_entry(int socket, void* data) noexcept : socket_(socket), data_(data) {}

  /// Puts the socket into an epoll (EPOLLIN, with `data`), unless it was taken out for good.
  void list_in(int epoll) noexcept;
  /// `for_good`: nothing more comes.
  void take_out(int epoll, bool for_good) noexcept;
  /// The socket is about to be closed: it is not touched any more.
  void close() noexcept;

 private:
  std::mutex mutex_;
  int socket_;  // negative once closed
  void* const data_;
  bool dry_ = false;
};

}  // namespace ham::transport::tcp
