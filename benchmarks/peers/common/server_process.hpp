// The server as a forked child: on its own core, ready before the client begins, never left behind.
#pragma once

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <utility>

#include "machine.hpp"

namespace ham::inline v1::peers {

/// To be made before the process has threads or has started the peer's library. The child is killed by the destructor,
/// and by the kernel when this process ends in any other way.
class server_process {
 public:
  /// Called by the server when clients may come.
  using announce = std::function<void()>;

  /// Runs `serve` in a child on `core`; returns when it has announced itself. Throws if it does not within ten seconds.
  server_process(int core, const std::function<void(const announce&)>& serve) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe for a server");
    const pid_t parent = ::getpid();
    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("no process for a server");
    if (child_ == 0) {
      ::close(ends[0]);
      run(parent, core, ends[1], serve);
    }
    ::close(ends[1]);
    pollfd ready{ends[0], POLLIN, 0};
    char byte = 0;
    const bool announced = ::poll(&ready, 1, 10'000) == 1 && ::read(ends[0], &byte, 1) == 1;
    ::close(ends[0]);
    if (!announced) {
      end();
      throw std::runtime_error("the server did not start");
    }
  }
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;
  ~server_process() { end(); }

 private:
  [[noreturn]] static void run(pid_t parent, int core, int ready, const std::function<void(const announce&)>& serve) {
    int status = 0;
    try {
      end_with_parent(parent);
      pin_to(core);
      serve([ready] {
        if (::write(ready, "r", 1) != 1) ::_exit(1);
      });
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "server: %s\n", failure.what());
      status = 1;
    }
    ::_exit(status);
  }

  void end() {
    const pid_t child = std::exchange(child_, -1);
    if (child <= 0) return;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  pid_t child_ = -1;
};

}  // namespace ham::peers
