// ham_main: where an accelerator's runtime starts the application (paper 1, Fig. 4). In a file of its own: a program
// that is linked with the static library may have another one.
#include <cstdint>
#include <exception>

#include "base/log.hpp"
#include "job/run_target.hpp"

/// Called once in a process that the host's runtime made, with the address of what the host has left there. Returns
/// when the job has ended: 0, or 1 if this target could not take part.
extern "C" std::uint64_t ham_main(std::uint64_t welcome) {
  try {
    ham::detail::run_called_target(welcome);
    return 0;
  } catch (const std::exception& problem) {
    ham::base::log("job", ham::base::log_level::error, "%s", problem.what());
    return 1;
  }
}
