// The machine and the build: versions, cores, and the limits of the system that bound a job.
#pragma once

#include <string>
#include <vector>

namespace ham::inline v1::info {

/// A name and what it is; `remark` says what it means for HAM, if that is not plain.
struct property {
  std::string name;
  std::string value;
  std::string remark;
};

/// Without its end; empty: there is no such file.
[[nodiscard]] std::string first_line(const std::string& path);

/// Numbers of the cores that this process may use; empty: more than the system can tell.
[[nodiscard]] std::vector<int> usable_cores();

/// HAM, compiler, standard library, C library, kernel, data layout.
[[nodiscard]] std::vector<property> versions();

/// Host name, cores that may be used and which of them share a cache, memory.
[[nodiscard]] std::vector<property> machine();

/// What bounds the number of nodes, of calls and the size of messages here.
[[nodiscard]] std::vector<property> limits();

/// Services of the kernel that shared memory and the detection of death rest on, each tried: "yes", or why not.
[[nodiscard]] std::vector<property> kernel_services();

}  // namespace ham::info
