// Offloading inside an MPI program: the ranks of a communicator become the nodes of a runtime.
//
//   MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
//   {
//     ham::runtime rt{ham::mpi_communicator(comm)};  // collective over comm
//     if (rt.this_node() == 0) work = ham::offload::sync(1, ham::fn<&f>, 1);
//   }                                                // the others come here when the host's runtime has ended
//   MPI_Finalize();
//
// Includes no header of an MPI; works with each of them. The communicator is duplicated: the program's own messages and
// HAM's do not meet. Link ham::ham (explicit start).
#pragma once

#include <cstring>
#include <type_traits>

#include "ham/offload/runtime.hpp"

namespace ham::inline v1 {

/// Hands the ranks of `communicator`, an MPI_Comm, to a runtime. It stays the caller's and may be freed once the
/// runtime is made. MPI runs already. With less than MPI_THREAD_SERIALIZED only the thread that called MPI_Init may
/// make the runtime, and calls from other threads travel when that one calls HAM.
template <class Communicator>
[[nodiscard]] detail::communicator_handle mpi_communicator(Communicator communicator) noexcept {
  static_assert(std::is_trivially_copyable_v<Communicator> && sizeof(Communicator) <= 16, "ham: not an MPI_Comm");
  detail::communicator_handle handle;
  std::memcpy(handle.bytes, &communicator, sizeof communicator);
  return handle;
}

}  // namespace ham
