// ZeroMQ: a DEALER of the client and a ROUTER of the server over ipc, as the guide recommends for calls under way.
#include <zmq.hpp>

#include <cstring>

#include "common/program.hpp"

namespace {

using namespace ham::peers;

/// Of the abstract namespace: no file is left behind.
std::string address() { return "ipc://@ham-peers-zeromq-" + std::to_string(::getpid()); }

void serve(const std::string& at, const server_process::announce& ready) {
  zmq::context_t context(1);
  zmq::socket_t socket(context, zmq::socket_type::router);
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
  socket.bind(at);
  ready();
  zmq::message_t who, head, argument;
  while (true) {
    static_cast<void>(socket.recv(who));
    static_cast<void>(socket.recv(head));
    static_cast<void>(socket.recv(argument));
    const std::uint64_t answer = execute(*head.data<op>(), {argument.data<std::byte>(), argument.size()});
    socket.send(who, zmq::send_flags::sndmore);
    socket.send(zmq::buffer(&answer, sizeof answer), zmq::send_flags::none);
  }
}

class zeromq_client final : public client {
 public:
  explicit zeromq_client(const std::string& at) : context_(1), socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::sndhwm, 0);
    socket_.set(zmq::sockopt::rcvhwm, 0);
    socket_.set(zmq::sockopt::linger, 0);
    socket_.connect(at);
  }

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    send(what, argument);
    return receive();
  }

  std::uint64_t call_many(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) send(op::touch, {});
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += receive();
    return sum;
  }

 private:
  void send(op what, std::span<const std::byte> argument) {
    socket_.send(zmq::buffer(&what, sizeof what), zmq::send_flags::sndmore);
    if (argument.size() <= inline_bytes) {
      socket_.send(zmq::buffer(argument.data(), argument.size()), zmq::send_flags::none);
    } else {
      // Without a copy: the caller waits for the answer, so its memory lives long enough.
      zmq::message_t message(
          const_cast<std::byte*>(argument.data()), argument.size(), [](void*, void*) {}, nullptr);
      socket_.send(message, zmq::send_flags::none);
    }
  }
  std::uint64_t receive() {
    static_cast<void>(socket_.recv(answer_));
    std::uint64_t value = 0;
    if (answer_.size() != sizeof value) throw std::runtime_error("an answer of a wrong size");
    std::memcpy(&value, answer_.data(), sizeof value);
    return value;
  }

  zmq::context_t context_;
  zmq::socket_t socket_;
  zmq::message_t answer_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto [major, minor, patch] = zmq::version();
  const std::string at = address();
  return run_forked(
      argc, argv,
      {"zeromq", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch),
       "DEALER and ROUTER over ipc, one I/O thread each, no high-water mark"},
      [&](const server_process::announce& ready) { serve(at, ready); },
      [&](description&) { return std::make_unique<zeromq_client>(at); });
}
