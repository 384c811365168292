// A spawned process: takes messages from the parents and runs their kernels until it is told to end.
#pragma once

#include "mpix/guard.hpp"
#include "mpix/kernel.hpp"
#include "mpix/message.hpp"
#include "mpix/mpi/transfer.hpp"
#include "mpix/refusal.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ham::inline v1::mpix {

class child {
 public:
  /// `parents`: the intercommunicator that spawning made. Collective over parents and children.
  explicit child(MPI_Comm parents);

  /// Returns when the parents have ended the children or let go of them.
  void serve();

  /// Disconnects from the parents, as soon as they do. MPI_Finalize is next.
  void leave();

 private:
  /// A kernel that can be run, or why it cannot; agreed by all children, so that none runs what another lacks.
  struct prepared {
    std::string name;
    std::unique_ptr<kernel> ready;
    std::optional<refusal> why;  ///< only on the child that tells
  };
  struct abandoned {};

  std::optional<message_buffer> poll();
  message_buffer receive();
  void forward(const message_buffer& bytes);
  void execute(message_buffer& bytes);
  prepared& prepare(const kernel_shape& shape);
  void run(prepared& what, std::uint32_t index, std::vector<std::byte*>& arguments);
  void report(failure what, std::uint32_t first, std::uint32_t count, const std::string& name, const std::string& text,
              int signal = 0);
  void say_done();
  void look_around();
  void wait_for(MPI_Request& request);

  MPI_Comm parents_;
  MPI_Comm control_ = MPI_COMM_NULL;
  MPI_Comm siblings_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  int parent_count_ = 0;
  guard guard_;
  bool crashed_ = false;

  std::uint64_t next_ticket_ = 0;
  std::map<std::uint64_t, message_buffer> early_;
  std::map<std::string, prepared, std::less<>> kernels_;
  outbox outbox_;

  // The message that is being worked on.
  batch_header now_;
  std::uint32_t reports_ = 0;
  std::vector<std::int64_t> results_;

  // Failures that no parent has fetched.
  int unfetched_ = 0;
  std::string last_failure_;
  std::chrono::steady_clock::time_point deadline_{};
};

}  // namespace ham::mpix
