// What the processes of the job print, read as it comes and handed on line by line.
#pragma once

#include "descriptor.hpp"

#include <functional>
#include <list>
#include <string>
#include <string_view>

namespace ham::inline v1::run {

/// Writes all of `text` to one of ham-run's own outputs; false if nobody reads it any more.
bool print_out(int to, std::string_view text);

class streams {
 public:
  /// Gets a line without its end. Not giving it on is allowed; false closes the stream, so that its writer is told.
  using line_handler = std::function<bool(std::string_view line)>;

  /// Reads `from` until its end.
  void add_lines(descriptor from, line_handler handler);
  /// Copies `from` to `to` as it is, or line by line with `prefix` in front.
  void add_copy(descriptor from, int to, const std::string& prefix);

  /// Waits up to `timeout_ms` for something to happen here or at `other`, and deals with what happened here.
  void wait(int timeout_ms, int other = -1);
  [[nodiscard]] bool empty() const { return streams_.empty(); }

 private:
  struct stream {
    descriptor from;
    line_handler on_line;  ///< empty: copied as it is
    int to = -1;
    std::string partial;
  };
  /// False at its end.
  static bool read_some(stream& one);
  static bool hand_on_lines(stream& one, std::string_view fresh);

  std::list<stream> streams_;
};

}  // namespace ham::run
