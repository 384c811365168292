// Event loop: a program that waits in epoll for its own descriptors and for results of other nodes.
// expect: ^typed in: hello$
// expect: ^node 1 says 42$
// expect: ^node 1 failed: no such thing$
#include <ham/offload.hpp>

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace ham;

int answer(int question) { return question * 2; }
void refuse() { throw std::runtime_error("no such thing"); }

int main() {
  int input[2];  // stands for a socket, a terminal, ...
  if (pipe(input) != 0 || write(input[1], "hello", 5) != 5) return 1;

  const int loop = epoll_create1(EPOLL_CLOEXEC);
  for (const int fd : {input[0], offload::event_fd()}) {
    epoll_event interest{EPOLLIN, {.fd = fd}};
    epoll_ctl(loop, EPOLL_CTL_ADD, fd, &interest);
  }

  int left = 3;
  offload::async(1, fn<&answer>, 21).on_result([&](offload::future<int> result) {
    std::cout << "node 1 says " << result.get() << '\n';
    --left;
  });
  auto failing = offload::async(1, fn<&refuse>);
  failing.on_ready([&] {  // for errors as for values; the future stays where it is
    std::cout << "node 1 failed: " << describe_error(failing.error()).message << '\n';
    --left;
  });

  while (left > 0) {
    epoll_event event{};
    if (epoll_wait(loop, &event, 1, -1) != 1) continue;
    if (event.data.fd == offload::event_fd()) {
      offload::serve_event_fd();  // runs what is due, and makes the descriptor unreadable
      continue;
    }
    std::array<char, 64> text{};
    const ssize_t size = read(event.data.fd, text.data(), text.size());
    std::cout << "typed in: " << std::string(text.data(), static_cast<std::size_t>(size)) << '\n';
    --left;
  }
  close(loop);
}
