// The side of a tcp connection that was connected to, from the first byte to the greeting: in plaintext and with TLS.
// fuzz: -max_len=1024 -detect_leaks=0
#include <sys/socket.h>

#include <array>
#include <vector>

#include "input.hpp"
#include "transport/tcp/handshake.hpp"

using namespace ham;
using namespace ham::transport::tcp;

namespace {

const std::shared_ptr<const tls_context>& keyed() {
  static const std::shared_ptr<const tls_context> context =
      why_no_tls().empty()
          ? std::make_shared<const tls_context>(tls_role::server, transport::secret_key{}, invite_identity)
          : nullptr;
  return context;
}

/// Whether the first bytes are a greeting, as the handshake must see it.
bool is_hello(std::span<const std::byte> bytes) {
  hello ignored;
  return bytes.size() >= hello::bytes &&
         read_hello(std::span<const std::byte, hello::bytes>(bytes.data(), hello::bytes), ignored) == nullptr;
}

}  // namespace

HAM_FUZZ(from) {
  const std::uint8_t how = from.byte();
  const bool secure = how % 2 != 0 && keyed() != nullptr;
  const std::size_t piece = std::size_t{1} + how / 2 * 8;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return;
  const base::unique_fd stranger(ends[0]);
  handshake acceptor(base::unique_fd(ends[1]), secure ? keyed() : nullptr);
  const auto all = from.rest();
  handshake::status now = handshake::status::pending;
  for (auto left = all; now == handshake::status::pending && !left.empty();) {
    const auto some = left.first(std::min(piece, left.size()));
    if (::send(stranger.get(), some.data(), some.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(some.size())) break;
    left = left.subspan(some.size());
    now = acceptor.step();
    std::array<std::byte, 4096> answer;  // NOLINT: not read
    while (::recv(stranger.get(), answer.data(), answer.size(), 0) > 0) {
    }
  }
  fuzz::require(now != handshake::status::failed || !acceptor.why().empty(), "a reason");
  // The key is zeros, but a finished message would have to be made with it.
  fuzz::require((now == handshake::status::greeted) == (!secure && is_hello(all)), "a stranger who got in, or did not");
}
