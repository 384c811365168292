// Runs a launcher of MPI: repeats the run if Open MPI has lost a spawned process, ends it if the launcher itself hangs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace ham::inline v1::kernels {

/// Open MPI 4.1 may lose a wake-up while a process starts: the process then waits in PMIx_Init for ever, and so do all
/// that spawned it. Nothing of the program has run in that process by then, and the launcher notices nothing. The state
/// is recognised by what a process has loaded (the PMIx component, but none of those that Open MPI opens right after
/// PMIx_Init), by a main thread that waits in a futex, and by processor time that does not advance.
///
/// Its launcher may also wait for ever in PMIx_server_finalize after it has aborted a job: its processes have ended and
/// everything has been written, but nobody learns the status. Such a run is ended and not repeated.
struct spawn_watch {
  std::vector<std::string> command;  ///< launcher, its options, the program; the launcher is looked up in PATH
  std::chrono::milliseconds lost_after{10'000};  ///< how long a process has to be in that state
  int max_runs = 3;                              ///< in the last one, lost processes are not watched for
  std::chrono::milliseconds hung_after{
      10'000};           ///< how long a launcher without living processes has to wait for a thread of its own
  bool capture = false;  ///< return what the run writes to standard output
};

struct spawn_result {
  int status = 0;      ///< of the last run: its exit status, 128 + signal, or 1 of one whose launcher hung
  int repeated = 0;    ///< runs that were ended because a process was lost; each was told on standard error
  std::string output;  ///< of the last run, if captured
};

/// Blocks until a run has ended by itself, or its launcher hangs, which is told on standard error. Call it while the
/// process has no other children. Throws std::system_error if the command cannot be started.
[[nodiscard]] spawn_result run_spawning(const spawn_watch& what);

/// Whether this process is where Open MPI waits for its launcher in PMIx_Init.
[[nodiscard]] bool waits_in_pmix_init(pid_t process);

}  // namespace ham::kernels
