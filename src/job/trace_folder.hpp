// The folder beside a trace in which the nodes of this machine put their parts, until the host has joined them.
#pragma once

#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {

/// Whether a file of such a folder is the part of a node, by its name.
[[nodiscard]] bool is_trace_part(std::string_view file_name) noexcept;

/// An empty folder of this user's, which nobody else can write. Traces may be written to where others write as well
/// (/tmp): who has made a folder, or a symbolic link, of its name before would have this process remove files
/// elsewhere, and could change what is in the trace. One thread at a time.
class trace_folder {
 public:
  /// Makes it, or takes one that a job has left, whose parts are removed. Throws ham::config_error: it cannot be made,
  /// is no folder of this user's own, or another job uses it.
  explicit trace_folder(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Removes all parts, and the folder if nothing else is in it.
  void remove() noexcept;

 private:
  void expect_own() const;
  void expect_unused() const;
  void remove_parts() noexcept;

  std::string path_;
  base::unique_fd folder_;  // what has been checked, whatever becomes of its name
};

}  // namespace ham::detail
