// One thread, the caller's: serves all that connect until one has shown the key and offers a job.
#include "transport/tcp/listener.hpp"

#include <poll.h>

#include <deque>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "transport/tcp/network.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

std::shared_ptr<const tls_context> server_context(const listen_options& options) {
  if (!options.key) return nullptr;
  return std::make_shared<tls_context>(tls_role::server, *options.key, invite_identity, options.records);
}

base::unique_fd listening(const listen_options& options) {
  expect_accepting_call();
  return listen_at(parse_address(options.address), !options.key && !options.force_insecure);
}

}  // namespace

tcp_arrival::tcp_arrival(connection with, const hello& theirs, const listen_options& how)
    : with_(std::move(with)),
      hello_(theirs),
      from_(remote_address(with_.socket()).text()),
      timeout_(how.timeout),
      records_(how.records),
      secure_(how.key.has_value()),
      force_insecure_(how.force_insecure) {}

std::unique_ptr<network> tcp_arrival::join(base::heap* memory, observer& to) {
  network_options options;
  options.self = hello_.to;
  // Where the host came in, its other targets can come in as well.
  socket_address here = local_address(with_.socket());
  here.set_port(0);
  options.bind = here.text();
  options.job_key = hello_.job_key;
  options.secure = secure_;
  options.force_insecure = force_insecure_;
  options.timeout = timeout_;
  options.records = records_;
  auto made = std::make_unique<tcp_network>(options, hello_.job, memory, to);
  made->join(hello_.from, std::move(with_), hello_);
  return made;
}

tcp_listener::tcp_listener(const listen_options& options)
    : options_(options), acceptor_(listening(options), server_context(options), options.timeout) {}

std::string tcp_listener::address() const {
  socket_address at = local_address(acceptor_.listening());
  if (at.is_any()) {
    const std::uint16_t port = at.port();
    const socket_address seen = visible_address(at.family());
    if (seen.size != 0) at = seen;
    at.set_port(port);
  }
  return at.text();
}

std::unique_ptr<arrival> tcp_listener::wait() {
  std::unique_ptr<arrival> result;
  const auto greeted = [&](connection with, const hello& theirs) {
    const bool invitation = theirs.what == purpose::invite && theirs.from == 0;
    if (invitation && result == nullptr) {
      result = std::make_unique<tcp_arrival>(std::move(with), theirs, options_);
    } else {
      static_cast<void>(send_welcome(with, {invitation ? verdict::busy : verdict::not_offered, 0, 0, 0, theirs.nonce}));
    }
  };
  while (result == nullptr) {
    pollfd waiting{acceptor_.fd(), POLLIN, 0};
    ::poll(&waiting, 1, base::milliseconds_until(acceptor_.next_ns()));
    acceptor_.turn(greeted);
  }
  acceptor_.hang_up();  // they come again, to a process that waits
  return result;
}

std::int64_t tcp_listener::refuse() {
  acceptor_.turn([](connection with, const hello& theirs) {
    const bool invitation = theirs.what == purpose::invite && theirs.from == 0;
    static_cast<void>(send_welcome(with, {invitation ? verdict::full : verdict::not_offered, 0, 0, 0, theirs.nonce}));
  });
  return acceptor_.next_ns();
}

}  // namespace ham::transport::tcp
