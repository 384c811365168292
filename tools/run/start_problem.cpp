// Messages about remote ends that did not start.
#include "start_problem.hpp"

#include "shell_text.hpp"

namespace ham::inline v1::run {
namespace {

std::string printed_by(const channel& which) {
  const std::string text = which.output_so_far();
  return text.empty() ? "" : ". It printed:" + text;
}

/// Problem, reason and advice once the script ran there: then the status is that of the program.
std::string about_program(const run_options& options, const channel& which, int code) {
  const std::string isa = which.ends().front().met->isa;
  const std::string program = program_for(options, isa);
  const std::string text = which.output_so_far();
  if (text.find("ham-run: no program") != std::string::npos) {
    return program + " is not there; copy it, name another with --binary " + isa + "=PATH, or use --copy";
  }
  if (text.find("unknown option --ham-serve") != std::string::npos) {
    return program + " is built with a release of HAM that cannot wait for hosts; build both from the same one";
  }
  if (code == 126 || text.find("xec format") != std::string::npos) {
    return program + " cannot be executed there, perhaps because it is not for its instruction set, " + isa +
           "; name one that is with --binary " + isa + "=PATH";
  }
  if (code == 0) {
    return program +
           " ended without waiting for a host; it must be linked with HAM, and give its arguments to the "
           "runtime if it starts that explicitly";
  }
  return program + " ended with status " + std::to_string(code) +
         " before it waited for the host; correct what it says";
}

}  // namespace

std::string why_it_ended(const run_options& options, const channel& which) {
  const std::string start = "cannot start a target on " + which.name();
  const std::string program = options.slurm ? "srun" : options.ssh.front();
  const int status = which.end_status().value_or(0);
  if (!which.ends().front().met) {
    const std::string advice =
        options.slurm ? "see that srun hostname works here"
                      : "see that " + shell_word(options.ssh) + " " + which.name() + " true works without questions";
    return start + " (" + program + " ended with " + describe_end(status) + "); " + advice + printed_by(which);
  }
  return start + ": " + about_program(options, which, exit_code(status)) + printed_by(which);
}

std::string why_it_is_late(const run_options& options, const channel& which, const std::string& what) {
  return "cannot start a target on " + which.name() + " (" + what + " within " + std::to_string(options.timeout_s) +
         " s); see that it works by hand, or allow more with --timeout SECONDS" + printed_by(which);
}

}  // namespace ham::run
