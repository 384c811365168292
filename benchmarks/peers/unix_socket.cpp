// A Unix stream socket without a library: blocking read and write, requests in one buffer where several are under way.
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "common/program.hpp"

namespace {

using namespace ham::peers;

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

void write_all(int socket, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

/// False at the end of the stream.
bool read_all(int socket, void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::read(socket, at, bytes);
    if (got < 0) fail("read");
    if (got == 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Answers all requests that have arrived together in one write.
void serve(int socket) {
  std::vector<request_head> heads(1024);
  std::vector<std::uint64_t> answers;
  std::vector<std::byte> argument(max_bytes);
  std::size_t kept = 0;  // bytes of an incomplete head
  while (true) {
    auto* const start = reinterpret_cast<std::byte*>(heads.data());
    const ssize_t got = ::read(socket, start + kept, heads.size() * sizeof(request_head) - kept);
    if (got <= 0) return;
    std::size_t bytes = kept + static_cast<std::size_t>(got);
    std::size_t at = 0;
    answers.clear();
    while (bytes - at >= sizeof(request_head)) {
      request_head head;
      std::memcpy(&head, start + at, sizeof head);
      at += sizeof head;
      const std::size_t here = std::min<std::size_t>(head.bytes, bytes - at);
      std::memcpy(argument.data(), start + at, here);
      at += here;
      if (!read_all(socket, argument.data() + here, head.bytes - here)) return;
      answers.push_back(execute(head.what, {argument.data(), head.bytes}));
    }
    if (!answers.empty()) write_all(socket, answers.data(), answers.size() * sizeof(std::uint64_t));
    kept = bytes - at;
    std::memmove(start, start + at, kept);
  }
}

class socket_client final : public client {
 public:
  explicit socket_client(int socket) : socket_(socket) {}
  ~socket_client() override { ::close(socket_); }

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    const request_head head{what, 0, argument.size()};
    iovec parts[2] = {{const_cast<request_head*>(&head), sizeof head},
                      {const_cast<std::byte*>(argument.data()), argument.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent < static_cast<ssize_t>(sizeof head)) fail("sendmsg");
    const std::size_t of_argument = static_cast<std::size_t>(sent) - sizeof head;
    write_all(socket_, argument.data() + of_argument, argument.size() - of_argument);
    std::uint64_t answer = 0;
    receive(&answer, sizeof answer);
    return answer;
  }

  std::uint64_t call_many(std::size_t count) override {
    heads_.assign(count, request_head{});
    answers_.resize(count);
    write_all(socket_, heads_.data(), count * sizeof(request_head));
    receive(answers_.data(), count * sizeof(std::uint64_t));
    return std::accumulate(answers_.begin(), answers_.end(), std::uint64_t{0});
  }

 private:
  void receive(void* to, std::size_t bytes) const {
    if (!read_all(socket_, to, bytes)) throw std::runtime_error("end of stream");
  }

  int socket_;
  std::vector<request_head> heads_;
  std::vector<std::uint64_t> answers_;
};

}  // namespace

int main(int argc, char** argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 1;
  return run_forked(
      argc, argv, {"unix_socket", "-", "socketpair, stream, blocking read and write"},
      [&](const server_process::announce& ready) {
        ::close(ends[0]);
        ready();
        serve(ends[1]);
      },
      [&](description&) {
        ::close(ends[1]);
        return std::make_unique<socket_client>(ends[0]);
      });
}
