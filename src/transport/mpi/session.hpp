// MPI in this process: begun here or found running, ended by whoever began it.
#pragma once

#include <mpi.h>

#include <string>

#include "transport/mpi/gate.hpp"

namespace ham::inline v1::transport::mpi {

class session {
 public:
  /// MPI runs afterwards. Throws ham::config_error.
  void begin();
  /// MPI_Finalize, if begin() began it; where that may hang, only the launcher is told (docs/running.md).
  void finish() noexcept;
  /// The same where this rank's part of the job has failed, for the reason `why`. Other ranks may wait for this one in
  /// collective calls: unless they come to their end within 10 s (HAM_MPI_END_TIMEOUT if that is less), `why` is
  /// written to the log, and MPI is told to abort. At once if there can be no thread that waits for them.
  void finish_failed(const std::string& why) noexcept;
  /// MPI was not running before.
  [[nodiscard]] bool started_here() const noexcept { return ours_; }
  [[nodiscard]] gate& calls() noexcept { return gate_; }

 private:
  void abort_all(const std::string& why) noexcept;

  gate gate_;
  bool ours_ = false;
  bool ready_ = false;
  bool over_ = false;  ///< finish() has ended it, with or without MPI_Finalize
};

/// What MPI says about an error.
[[nodiscard]] std::string text_of(int error);

}  // namespace ham::transport::mpi
