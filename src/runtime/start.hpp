// Start and end of the job that belongs to the whole process; used by the wrapped main.
#pragma once

#include <string>
#include <vector>

namespace ham::inline v1::detail {

/// The command that starts this program again.
[[nodiscard]] std::vector<std::string> command_line(int argc, char** argv);
/// Reads options and starts the targets. False: this process was a target, and the job has ended. Throws
/// ham::config_error.
[[nodiscard]] bool start_process_job(int& argc, char**& argv);
/// Ends it; does nothing the second time.
void end_process_job() noexcept;

}  // namespace ham::detail
