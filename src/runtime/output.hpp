// Whole lines from a target's stdout and stderr: lines of different nodes do not mix.
#pragma once

#include <cstdio>
#include <memory>
#include <streambuf>

namespace ham::inline v1::detail {

/// While it lives, what this process prints through stdio and iostreams is written line by line, each with one write to
/// what the host's stdout and stderr are, in the moment the line ends: also in order with the host's own output.
class line_output {
 public:
  line_output();
  ~line_output();
  line_output(const line_output&) = delete;
  line_output& operator=(const line_output&) = delete;

 private:
  class channel;
  std::unique_ptr<channel> out_;
  std::unique_ptr<channel> err_;
};

}  // namespace ham::detail
