// What a process says to the process manager of MPICH that started it.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace ham::inline v1::transport::mpi {

/// Says that this process is done, as MPI_Finalize does after a barrier that this function leaves out. A process that
/// ends without a word is a failure to Hydra, which then kills its other ranks on the same machine.
/// `fd`: of the environment's PMI_FD; speaks version 1 of PMI. False: there was no acknowledgement within `limit_ms`.
[[nodiscard]] inline bool leave_process_manager(int fd, int limit_ms) noexcept {
  constexpr std::string_view goodbye = "cmd=finalize\n";
  constexpr std::string_view answer = "cmd=finalize_ack";
  if (::send(fd, goodbye.data(), goodbye.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(goodbye.size())) return false;
  char line[64] = {};
  for (std::size_t length = 0; length < sizeof line;) {
    pollfd ready{fd, POLLIN, 0};
    const int events = ::poll(&ready, 1, limit_ms);
    if (events < 0 && errno == EINTR) continue;
    if (events <= 0 || ::read(fd, line + length, 1) != 1) return false;
    if (line[length] == '\n') return std::string_view(line, length).substr(0, answer.size()) == answer;
    ++length;
  }
  return false;
}

}  // namespace ham::transport::mpi
