// What the host of a job asks of its nodes to trace them, and what they answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/trace_part.hpp"
#include "ham/misc/types.hpp"

namespace ham::inline v1::detail {

/// Traces this process as node `self`, into the file `path`, or memory if that is empty. False: it is traced already.
/// Throws ham::config_error. Any thread.
bool start_tracing(node_t self, std::uint64_t job, const std::string& path);
/// Any thread.
void stop_tracing() noexcept;
/// In a child after fork.
void forget_tracing_after_fork() noexcept;

/// Where the parts of a trace are, and that of a node.
[[nodiscard]] std::string folder_of_parts(const std::string& trace);
[[nodiscard]] std::string file_of_part(const std::string& folder, node_t node);
/// All bytes of a file; empty: it cannot be read, or is longer than a part can be, or no file.
[[nodiscard]] std::vector<std::byte> bytes_of_file(int fd);
[[nodiscard]] std::vector<std::byte> bytes_of_file(const std::string& path);

/// What nodes execute for the host. Calls of these are not shown in traces, but tell how far clocks are apart.
namespace trace_control {

/// Traces this node: into the folder, if it is the one of the host's own part; else into memory.
void begin(std::string folder, std::uint64_t job);
void ping();
/// Ends that; gives the bytes to be fetched by `read`. 0: its part is in the folder.
std::uint64_t end();
std::vector<std::byte> read(std::uint64_t from, std::uint64_t bytes);

}  // namespace trace_control
}  // namespace ham::detail
