// Ping-pong and streams over a bare loopback connection, both halves.
#include "socket_partner.hpp"

#include "affinity.hpp"
#include "cipher_floor.hpp"
#include "process_state.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace ham::inline v1::bench {

namespace {

enum class request : std::uint64_t { ping_pong = 1, stream, sealed_stream, tls_stream };

struct order {
  request what{};
  std::uint64_t bytes = 0;
};

constexpr std::byte last_ping{1};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void send_all(int socket, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) fail("the floor's connection broke");
    data = data.subspan(static_cast<std::size_t>(sent));
  }
}

std::size_t packet_bytes(int socket) {
  constexpr std::size_t most = 65'000;  // a little below what Linux makes of many segments
  int segment = 0;
  socklen_t size = sizeof segment;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &segment, &size) != 0 || segment <= 0) return most;
  const auto one = static_cast<std::size_t>(segment);
  return std::max<std::size_t>(most / one, 1) * one;
}

/// In pieces that fill packets: on loopback more than twice as fast as all in one call.
void stream_all(int socket, std::span<const std::byte> data) {
  for (const std::size_t packet = packet_bytes(socket); !data.empty();) {
    const std::size_t piece = std::min(packet, data.size());
    send_all(socket, data.first(piece));
    data = data.subspan(piece);
  }
}

/// `flags`: MSG_DONTWAIT spins, MSG_WAITALL sleeps.
void receive_all(int socket, std::span<std::byte> into, int flags) {
  while (!into.empty()) {
    const ssize_t got = ::recv(socket, into.data(), into.size(), flags);
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) fail("the floor's connection broke");
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

void give_order(int socket, order what) { send_all(socket, std::as_bytes(std::span(&what, 1))); }

void await_receipt(int socket) {
  std::byte receipt{};
  receive_all(socket, {&receipt, 1}, MSG_WAITALL);
}

void answer_pings(int socket, std::size_t bytes) {
  std::vector<std::byte> ping(bytes);
  do {
    receive_all(socket, ping, MSG_DONTWAIT);
    send_all(socket, ping);
  } while (ping.front() != last_ping);
}

/// A connected pair; the second end is the partner's.
std::array<int, 2> connect_over_loopback() {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  const int here = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening < 0 || here < 0 || ::bind(listening, address, size) != 0 || ::listen(listening, 1) != 0 ||
      ::getsockname(listening, address, &size) != 0 || ::connect(here, address, size) != 0) {
    fail("cannot make a loopback connection for the floor");
  }
  const int there = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  ::close(listening);
  if (there < 0) fail("cannot make a loopback connection for the floor");
  for (const int one : {here, there}) {
    const int on = 1;
    ::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return {here, there};
}

}  // namespace

socket_partner::socket_partner(const std::vector<int>& cores) {
  const auto [here, there] = connect_over_loopback();
  socket_ = here;
  std::vector<std::string> arguments{std::string(socket_partner_argument)};
  for (const int core : cores) arguments.push_back(std::to_string(core));
  pid_ = spawn_self(arguments, there);
  ::close(there);
}

socket_partner::~socket_partner() {
  ::close(socket_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

block_times socket_partner::ping_pong(std::size_t bytes, const block_plan& plan) {
  give_order(socket_, {request::ping_pong, bytes});
  std::vector<std::byte> ping(bytes);
  const auto round = [&] {
    send_all(socket_, ping);
    receive_all(socket_, ping, MSG_DONTWAIT);
  };
  block_times result = time_block(round, plan);
  ping.front() = last_ping;
  round();
  return result;
}

double socket_partner::stream_ns(std::span<const std::byte> data) {
  give_order(socket_, {request::stream, data.size()});
  await_receipt(socket_);  // the memory is there
  const std::int64_t begin = now_ns();
  stream_all(socket_, data);
  await_receipt(socket_);
  return static_cast<double>(now_ns() - begin);
}

double socket_partner::sealed_stream_ns(std::span<const std::byte> data) {
  give_order(socket_, {request::sealed_stream, data.size()});
  await_receipt(socket_);
  const std::int64_t begin = now_ns();
  sealed_stream(socket_).send(data);
  await_receipt(socket_);
  return static_cast<double>(now_ns() - begin);
}

double socket_partner::tls_stream_ns(std::span<const std::byte> data) {
  give_order(socket_, {request::tls_stream, data.size()});
  await_receipt(socket_);
  const tls_stream through(socket_, tls_stream::side::client);
  const std::int64_t begin = now_ns();
  through.send(data);
  await_receipt(socket_);
  return static_cast<double>(now_ns() - begin);
}

int run_socket_partner(int argc, char** argv) {
  if (argc < 3) return EXIT_FAILURE;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<int> cores;
  for (int i = 2; i < argc; ++i) cores.push_back(std::atoi(argv[i]));
  pin_this_thread(cores);
  constexpr int socket = 3;
  const std::byte receipt{1};
  std::vector<std::byte> memory;
  order next;
  while (::recv(socket, &next, sizeof next, MSG_WAITALL) == static_cast<ssize_t>(sizeof next)) {
    if (next.what == request::ping_pong) {
      answer_pings(socket, next.bytes);
      continue;
    }
    if (memory.size() < next.bytes) memory.assign(next.bytes, std::byte{1});
    const std::span<std::byte> into(memory.data(), next.bytes);
    send_all(socket, {&receipt, 1});
    if (next.what == request::stream)
      receive_all(socket, into, MSG_WAITALL);
    else if (next.what == request::sealed_stream)
      sealed_stream(socket).receive(into);
    else
      tls_stream(socket, tls_stream::side::server).receive(into);
    send_all(socket, {&receipt, 1});
  }
  return EXIT_SUCCESS;
}

}  // namespace ham::bench
