// Receiving as the floor does it. MPI's own blocking functions spin, which takes cores from the processes that are
// waited for where there are fewer cores than processes: the floor waits in the steps in which the library does.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <thread>

namespace ham::inline v1::kernels {

/// Polls until `poll(&flag)` has set its flag: quickly at first, then it gives the core away between, then it sleeps.
template <class Poll>
void wait_until(Poll poll) {
  constexpr int spins = 50;
  constexpr int yields = 500;
  int flag = 0;
  for (int round = 0; poll(&flag), flag == 0; ++round) {
    if (round >= spins + yields)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    else if (round >= spins)
      std::this_thread::yield();
  }
}

inline void wait(MPI_Request& request) {
  wait_until([&](int* flag) { MPI_Test(&request, flag, MPI_STATUS_IGNORE); });
}

/// MPI_Recv of the next message with tag 0; its size.
inline int receive(std::span<std::byte> into, int source, MPI_Comm over) {
  MPI_Status status;
  wait_until([&](int* flag) { MPI_Iprobe(source, 0, over, flag, MPI_STATUS_IGNORE); });
  MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_BYTE, source, 0, over, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return count;
}

}  // namespace ham::kernels
