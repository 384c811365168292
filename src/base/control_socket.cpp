// SOCK_SEQPACKET with SCM_RIGHTS.
#include "base/control_socket.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>

#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {
constexpr std::size_t max_fds = 16;
constexpr std::size_t max_bytes = 4096;
}  // namespace

std::pair<unique_fd, unique_fd> make_control_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw config_error("cannot make a socket pair" +
                       refused_call("socketpair", "raise the limit of open files (ulimit -n)"));
  }
  std::pair<unique_fd, unique_fd> both{unique_fd(ends[0]), unique_fd(ends[1])};  // which may have other numbers
  const int on = 1;
  for (const unique_fd* end : {&both.first, &both.second}) {
    if (::setsockopt(end->get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0) continue;
    throw config_error("cannot ask who sends to a socket" + refused_call("setsockopt", "report this"));
  }
  return both;
}

bool send_control(int socket, std::span<const std::byte> message, std::span<const int> fds) noexcept {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * max_fds)> ancillary{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    const std::size_t bytes = sizeof(int) * fds.size();
    header.msg_control = ancillary.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), fds.data(), bytes);
  }
  ssize_t sent = -1;
  do sent = ::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(message.size());
}

std::optional<control_message> receive_control(int socket, bool wait, bool& closed) {
  control_message message;
  message.bytes.resize(max_bytes);
  iovec part{message.bytes.data(), message.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * max_fds) + CMSG_SPACE(sizeof(ucred))> ancillary{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.data();
  header.msg_controllen = ancillary.size();
  ssize_t got = -1;
  do got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  while (got < 0 && errno == EINTR);
  closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  if (got <= 0) return std::nullopt;
  message.bytes.resize(static_cast<std::size_t>(got));
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_CREDENTIALS) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(one), sizeof sender);
      message.sender_pid = sender.pid;
      message.from_other_user = sender.uid != ::geteuid() && sender.uid != 0;
    }
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(one) + i * sizeof(int), sizeof fd);
      message.fds.emplace_back(fd);
    }
  }
  return message;
}

bool next_control_has_fds(int socket) noexcept {
  // With room for the sender's credentials only: what is cut off is descriptors.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> ancillary{};
  char first = 0;
  iovec part{&first, 1};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.data();
  header.msg_controllen = ancillary.size();
  ssize_t got = -1;
  do got = ::recvmsg(socket, &header, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  return got >= 0 && (header.msg_flags & MSG_CTRUNC) != 0;
}

void abandon_control(unique_fd socket) noexcept {
  const int fd = socket.release();
  try {
    start_thread([fd] { ::close(fd); }).detach();
  } catch (const std::exception&) {
    return;  // there can be no thread: it stays open until this process ends
  }
}

}  // namespace ham::base
