// HAM's end of connections to another implementation of TLS 1.3: takes them one after the other, gives back what it
// receives, and prints how each of them ended. peer client|server ham|openssl stream|lane RECORD_LIMIT
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "transport/tcp/address.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tls_stream.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;

/// What the other side may say instead of data to be given back.
constexpr std::string_view please_end = "please end";
constexpr std::string_view please_renew = "please renew";

std::string_view text_in(std::span<const std::byte> from) {
  return {reinterpret_cast<const char*>(from.data()), from.size()};
}

void wait_for(int socket, short event) {
  pollfd one{socket, event, 0};
  ::poll(&one, 1, -1);
}

/// What is unread when a socket is closed would take the alert with it that was sent last.
void drain(int socket) {
  ::shutdown(socket, SHUT_WR);
  char some[4096];
  for (ssize_t got = 1; got > 0 || (got < 0 && errno == EAGAIN);) {
    wait_for(socket, POLLIN);
    got = ::recv(socket, some, sizeof some, 0);
  }
}

// ---- as the connections of a node

using status = byte_stream::status;

/// Empty: all was sent.
std::string flush(tls_stream& to) {
  for (;;) {
    const byte_stream::outcome now = to.flush();
    if (now.what == status::moved) return {};
    if (now.what != status::later) return "lost";
    wait_for(to.socket(), POLLOUT);
  }
}

std::string how_it_ends(tls_stream& of, const byte_stream::outcome& now) {
  if (now.what == status::lost) return "lost";
  const std::string why = now.error == 0 ? "ended" : "failed: " + of.failure();
  of.end();
  static_cast<void>(flush(of));
  drain(of.socket());
  return why;
}

std::string serve_stream(base::unique_fd socket, const std::shared_ptr<const tls_context>& context) {
  tls_stream stream(std::move(socket), context);
  for (byte_stream::outcome now = stream.establish(); now.what != status::moved; now = stream.establish()) {
    if (now.what == status::failed || now.what == status::lost) {
      drain(stream.socket());
      return "no handshake: " + stream.failure();
    }
    if (now.what == status::later) wait_for(stream.socket(), POLLIN);
  }
  bytes room(50'000);
  for (;;) {
    const byte_stream::outcome got = stream.receive(room);
    if (got.what == status::later) wait_for(stream.socket(), POLLIN);
    if (got.what == status::failed || got.what == status::lost) return how_it_ends(stream, got);
    const std::span<const std::byte> data = std::span(room).first(got.bytes);
    if (text_in(data) == please_end) return how_it_ends(stream, {status::failed});
    for (std::size_t done = 0; done < data.size();) {
      const byte_stream::outcome sent = stream.send(data.subspan(done));
      if (sent.what != status::moved) return how_it_ends(stream, sent);
      done += sent.bytes;
      if (const std::string why = flush(stream); !why.empty()) return why;
    }
  }
}

// ---- as the lanes of bulk transfers

bool exchange(int socket, tls_session& with, bool receive) {
  bytes& out = with.output();
  const bool sent = ::send(socket, out.data(), out.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(out.size());
  out.clear();
  if (!receive || !sent) return sent;
  const std::span<std::byte> room = with.input_room(16384);
  const ssize_t got = ::recv(socket, room.data(), room.size(), 0);
  if (got > 0) with.feed(static_cast<std::size_t>(got));
  return got > 0;
}

std::string serve_lane(base::unique_fd socket, const std::shared_ptr<const tls_context>& context, std::uint64_t limit) {
  auto session = std::make_unique<tls_session>(context, limit);
  for (auto now = session->shake_hands(); now != tls_session::status::done; now = session->shake_hands()) {
    const bool goes_on = exchange(socket.get(), *session, now == tls_session::status::want_input);
    if (!goes_on || now == tls_session::status::failed) {
      drain(socket.get());
      return "no handshake: " + session->failure();
    }
  }
  if (!exchange(socket.get(), *session, false)) return "lost";
  tls_session& tls = *session;
  blocking_tls_stream lane(std::move(socket), std::move(session));
  bytes room(50'000);
  for (;;) {
    const long got = lane.receive(room);
    if (got <= 0) {
      lane.end();
      drain(lane.socket());
      return tls.ended() ? "ended" : "failed: " + tls.failure();
    }
    const std::span<const std::byte> data = std::span(room).first(static_cast<std::size_t>(got));
    if (text_in(data) == please_end) {
      lane.end();
      drain(lane.socket());
      return "ended";
    }
    if (text_in(data) == please_renew && !tls.renew()) return "failed: cannot renew";
    if (!lane.send(data.first(data.size() / 2), data.subspan(data.size() / 2), blocking_stream::rest::goes)) {
      return "failed: cannot send";
    }
  }
}

int run(const char* const* what) {
  secret_key key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  const auto role = std::strcmp(what[0], "client") == 0 ? tls_role::client : tls_role::server;
  const auto records = std::strcmp(what[1], "openssl") == 0 ? tls_records::openssl : tls_records::ham;
  const bool lane = std::strcmp(what[2], "lane") == 0;
  const std::uint64_t limit = std::strtoull(what[3], nullptr, 10);
  const auto context = std::make_shared<const tls_context>(role, key, job_identity, records);
  const base::unique_fd listening = listen_at(parse_address("127.0.0.1:0"), true);
  make_blocking(listening.get());
  std::printf("%u\n", local_address(listening.get()).port());
  for (;;) {
    std::fflush(stdout);
    base::unique_fd socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | (lane ? 0 : SOCK_NONBLOCK)));
    if (!socket) return 1;
    const std::string end =
        lane ? serve_lane(std::move(socket), context, limit) : serve_stream(std::move(socket), context);
    std::printf("%s\n", end.c_str());
  }
}

}  // namespace
}  // namespace ham::transport::tcp

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 5) return 2;
  try {
    return ham::transport::tcp::run(argv + 1);
  } catch (const std::exception& error) {
    std::printf("unusable: %s\n", error.what());
    return 3;
  }
}
