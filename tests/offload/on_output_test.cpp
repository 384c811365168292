// Output of nodes that are threads of one process; of processes: tests/multiprocess/on_output_test.cpp.
#include "ham/offload/on_output.hpp"

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace on_output_test {

using offload::line_end;
using offload::output_line;

class output_of_threads : public two_targets {};

TEST_F(output_of_threads, is_the_program_s_own) {
  const auto ignore = [](node_t, offload::output_stream, std::string_view) {};
  for (const node_t node : {0, 1, 2})
    EXPECT_EQ(message_of<config_error>([&] { offload::on_output(node, ignore); }),
              "the nodes of this job are threads of this process: what they print is its own output");
}

TEST(output_lines, are_texts) {
  const output_line line{"a line", line_end::part};
  const std::string_view text = line;
  EXPECT_EQ(text, "a line");
  EXPECT_EQ(output_line{}.end, line_end::newline);
}

TEST(output_without_a_runtime, cannot_be_captured) { EXPECT_THROW(offload::on_output(1, {}), config_error); }

}  // namespace on_output_test
