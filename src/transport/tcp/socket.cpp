// Socket options and the way to a listening or connecting socket.
#include "transport/tcp/socket.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/refused_call.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr int backlog = 1024;
constexpr int rto_max_ms = 44;  // TCP_RTO_MAX_MS, since Linux 6.15; before that it has no effect

void set(int socket, int level, int option, int value) noexcept {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

/// `result`: of a call for no descriptor.
void expect_allowed(const char* call, long result) {
  base::expect_allowed("cannot connect with other nodes", call, result);
}

}  // namespace

void expect_connecting_calls() {
  constexpr int none = -1;
  char byte = 0;
  msghdr message{};
  expect_allowed("socket", ::socket(AF_INET, SOCK_STREAM, none));  // a filter may allow some families only
  expect_allowed("bind", ::bind(none, nullptr, 0));
  expect_allowed("listen", ::listen(none, 0));
  expect_allowed("connect", ::connect(none, nullptr, 0));
  expect_allowed("getsockname", ::getsockname(none, nullptr, nullptr));
  expect_allowed("getpeername", ::getpeername(none, nullptr, nullptr));
  expect_allowed("getsockopt", ::getsockopt(none, SOL_SOCKET, SO_ERROR, nullptr, nullptr));
  expect_allowed("sendto", ::send(none, &byte, 1, 0));
  expect_allowed("recvfrom", ::recv(none, &byte, 1, 0));
  expect_allowed("sendmsg", ::sendmsg(none, &message, 0));
}

void expect_accepting_call() { expect_allowed("accept4", ::accept4(-1, nullptr, nullptr, 0)); }

std::string error_text(int error) { return std::generic_category().message(error); }

base::unique_fd listen_at(const host_port& where, bool loopback_only) {
  expect_connecting_calls();
  std::string why;
  bool no_descriptors = false;
  const auto candidates = resolve(where, true, why);
  const bool ipv6 = where.host.find(':') != std::string::npos;
  const std::string text = (ipv6 ? "[" + where.host + "]" : where.host) + ":" + where.port;
  for (const socket_address& at : candidates) {
    if (loopback_only && !at.is_loopback()) {
      throw config_error("cannot listen at " + text +
                         " without security (others could reach it and run any function of this program); give a key, "
                         "listen on a loopback address, or force it");
    }
  }
  for (const socket_address& at : candidates) {
    base::unique_fd result(::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!result) {
      no_descriptors = errno == EMFILE || errno == ENFILE;
      why = error_text(errno);
      continue;
    }
    set(result.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (::bind(result.get(), at.get(), at.size) == 0 && ::listen(result.get(), backlog) == 0) return result;
    why = error_text(errno);
    no_descriptors = false;
  }
  throw config_error("cannot listen at " + text + " (" + why + "); " +
                     (no_descriptors ? "raise the limit of open files (ulimit -n)"
                                     : "choose an address of this machine and a free port"));
}

base::unique_fd begin_connect(const socket_address& to, std::chrono::milliseconds timeout, std::string& why) {
  base::unique_fd result(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (result) tune(result.get(), timeout);
  if (result && (::connect(result.get(), to.get(), to.size) == 0 || errno == EINPROGRESS)) return result;
  why = error_text(errno);
  return {};
}

int connect_error(int socket) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ? errno : error;
}

void tune(int socket, std::chrono::milliseconds timeout) noexcept {
  const int seconds = std::max<int>(2, static_cast<int>(timeout.count() / 1000));
  // One probe a second, or at longer intervals where Linux cannot count so many: silent after the last sign of life for
  // `seconds`, the link is taken for cut.
  const int interval = seconds / 128 + 1;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  // What is lost in an outage is repeated now and then: intervals that double for ever would outlast the time that is
  // left when the link comes back.
  set(socket, IPPROTO_TCP, rto_max_ms, std::clamp(static_cast<int>(timeout.count() / 5), 1000, 120'000));
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, interval);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, seconds / interval - 1);
}

void limit_silence(int socket, std::chrono::milliseconds timeout) noexcept {
  // Less, for the kernel counts from its first repetition, which comes 0.2 s after what it repeats or a little later.
  const auto until_repeated = std::min(timeout / 6, std::chrono::milliseconds(500));
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>((timeout - until_repeated).count()));
}

bool all_delivered(int socket) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return true;
  return info.tcpi_state == TCP_FIN_WAIT2 || info.tcpi_state == TCP_TIME_WAIT || info.tcpi_state == TCP_CLOSE;
}

void make_blocking(int socket) noexcept {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags >= 0) ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK);
}

std::size_t burst_bytes(int socket) noexcept {
  constexpr std::size_t largest_packet = 65'000;  // a little below what Linux fills
  int segment = 0;
  socklen_t size = sizeof segment;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &segment, &size) != 0 || segment <= 0) return largest_packet;
  const auto one = static_cast<std::size_t>(segment);
  return std::max(largest_packet / one, std::size_t{1}) * one;
}

}  // namespace ham::transport::tcp
