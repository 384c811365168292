// The floor of MPI kernels: the messages of a call, sent and received again by MPI_Send and MPI_Recv alone.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace ham::inline v1::kernels {

/// Bytes of the messages that the library sends and receives in parent 0, in their order.
struct traffic {
  std::vector<int> to_children;
  std::vector<int> to_parents;
  std::vector<int> from_children;
};

/// What the library sends and receives in this process while `work` runs. It is seen where the library calls MPI_Isend
/// and MPI_Mrecv: this program has functions of these names, which call those of MPI.
[[nodiscard]] traffic recorded(const std::function<void()>& work);

/// The same messages between the same processes, by MPI_Send and MPI_Recv. Who waits polls and gives its core away,
/// because there may be more processes than cores. Collective over the parents.
class bare_exchange {
 public:
  struct times_us {
    double sent = 0;      ///< until the first `sends` messages to the children have been sent
    double answered = 0;  ///< until all parents have the children's answer
  };

  /// In parent 0 `calls` are the calls alone, `with_end` the same and the wait for their end; elsewhere neither
  /// matters. Ends the job if there was nothing to see.
  bare_exchange(traffic calls, traffic with_end, MPI_Comm parents, MPI_Comm children);

  /// Once; the time of the slowest parent.
  [[nodiscard]] times_us operator()();

 private:
  void begin();

  MPI_Comm parents_;
  MPI_Comm children_;
  int rank_ = 0;
  int parent_count_ = 0;
  std::vector<int> to_children_;
  int sends_ = 0;
  int answer_bytes_ = 0;
  int last_word_bytes_ = 0;  ///< to each other parent
  std::vector<std::byte> bytes_;
};

}  // namespace ham::kernels
