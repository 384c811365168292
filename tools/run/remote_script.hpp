// What runs on a remote machine, in the language of any POSIX shell, and what it says back.
#pragma once

#include "options.hpp"
#include "plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::run {

/// The script given to `sh -c` there. It says which machine this is and then executes the lines that it reads from
/// its standard input, so that neither the key nor arguments nor variables show up in a list of processes. At the end
/// of its input it ends, and what it started with it.
[[nodiscard]] std::string remote_script();

/// What the script says first, on its standard error.
struct greeting {
  std::string isa;
  std::string slurm_node;  ///< empty outside of Slurm
  std::string address;     ///< at which ssh reached the machine; empty if it does not say
};
[[nodiscard]] std::optional<greeting> parse_greeting(std::string_view line);

/// A line that makes a temporary folder, which goes away with the script, and says its name.
[[nodiscard]] std::string folder_line();
[[nodiscard]] std::optional<std::string> parse_folder(std::string_view line);

/// A script of its own that stores a file: it reads folder, name and then the contents.
[[nodiscard]] std::string store_script();

/// How the application is started as a waiting target.
struct server {
  std::vector<target_group> groups;  ///< one, or all that Slurm starts at once
  std::string address;               ///< to wait at, without a port
  std::string copied_to;             ///< the temporary folder; empty: nothing was copied
};

/// The line that starts it. The next line must be the job's key, or say in which file it is.
[[nodiscard]] std::string serve_line(const run_options& options, const server& what);
[[nodiscard]] std::string key_file_line(const std::string& path);
[[nodiscard]] std::optional<std::string> parse_waiting(std::string_view line);

/// The program for a machine of instruction set `isa`.
[[nodiscard]] std::string program_for(const run_options& options, const std::string& isa);

}  // namespace ham::run
