// Where the output of one node goes: to the program's handler, to files, or to this process's own output.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/line_splitter.hpp"
#include "base/unique_fd.hpp"
#include "ham/misc/types.hpp"
#include "ham/offload/on_output.hpp"

namespace ham::inline v1::detail {

class node_output {
 public:
  /// Of the node `number`. Its files, NUMBER.out and NUMBER.err, are in `folder`, a descriptor, and grow; negative:
  /// there are none. Throws ham::config_error.
  node_output(node_t number, int folder);

  /// An empty one: the files, or the own output. What the handler before is doing goes on. Any thread.
  void use(offload::output_handler handler);
  /// Whether something other than the own output is to get the lines. Any thread.
  [[nodiscard]] bool is_wanted() const;
  /// A line, without its newline. One thread at a time, without a lock that handlers take.
  void deliver(offload::output_stream stream, std::string_view text, base::line_end end) noexcept;

 private:
  struct file {
    base::unique_fd fd;
    bool in_line = false;  ///< a process has ended within the last line
    bool complained = false;
  };
  void write(offload::output_stream stream, std::string_view text, base::line_end end);

  const node_t number_;
  std::array<file, 2> files_;
  mutable std::mutex mutex_;
  std::shared_ptr<const offload::output_handler> handler_;  // guarded by mutex_
};

}  // namespace ham::detail
