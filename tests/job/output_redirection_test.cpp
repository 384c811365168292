// A target that is a thread of this process: its output is this process's.
#include "job/output_redirection.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <iostream>

#include "job/captured_output.hpp"
#include "offload/loopback_job.hpp"

namespace ham::inline v1::test {
namespace {

using redirection = two_targets;

TEST_F(redirection, leads_what_a_target_writes_into_pipes) {
  received_lines lines;
  detail::target_outputs outputs;
  static_cast<void>(outputs.begin(1));
  outputs.use(1, lines.handler());
  {
    const redirected_descriptor out(STDOUT_FILENO), err(STDERR_FILENO);  // both are put back
    std::fputs("before\n", stdout);
    detail::redirect_output(1, outputs.open(1));
    EXPECT_EQ(out.text(), "before\n") << "what waited in the stream has gone the old way";
    std::cout << "out" << std::endl;
    std::cerr << "err\n";
    std::fputs("no newline", stderr);
  }
  EXPECT_EQ(lines.wait_for(3).size(), 3U);
  int ends = 0;
  for (const received_line& one : lines.all()) ends += one.end == offload::line_end::end_of_output ? 1 : 0;
  EXPECT_EQ(ends, 1) << "nobody has the pipes any more";
}

TEST_F(redirection, to_what_is_no_pipe_is_an_error) {
  const redirected_descriptor out(STDOUT_FILENO);
  detail::output_pipes files{base::make_memory_file("test", 0), base::make_memory_file("test", 0)};
  EXPECT_NE(message_of<config_error>([&] { detail::redirect_output(1, files); }).find("HAM_OUTPUT"), std::string::npos);
  files.out.reset();
  EXPECT_NE(message_of<config_error>([&] { detail::redirect_output(1, files); }).find("node 1"), std::string::npos);
}

}  // namespace
}  // namespace ham::test
