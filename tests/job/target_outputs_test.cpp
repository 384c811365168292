// Pipes for processes that are only played.
#include "job/target_outputs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "job/captured_output.hpp"

namespace ham::inline v1::test {
namespace {

using detail::output_pipes;
using detail::target_outputs;
using offload::output_stream;

void write_to(const base::unique_fd& pipe, std::string_view text) {
  ASSERT_EQ(::write(pipe.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}
std::vector<std::string> texts_of(const std::vector<received_line>& lines) {
  std::vector<std::string> texts;
  for (const received_line& one : lines) texts.push_back(std::to_string(one.node) + ":" + one.text);
  return texts;
}
using words = std::vector<std::string>;

TEST(target_outputs, makes_nothing_that_nobody_wants) {
  ::unsetenv("HAM_OUTPUT");
  target_outputs outputs;
  EXPECT_FALSE(outputs.can_capture(1));
  const output_pipes pipes = outputs.begin(1);
  EXPECT_LT(pipes.fds().out, 0);
  EXPECT_LT(pipes.fds().err, 0);
  EXPECT_TRUE(outputs.can_capture(1));
  EXPECT_FALSE(outputs.can_capture(2));
}

TEST(target_outputs, of_a_process_that_runs_already) {
  target_outputs outputs;
  received_lines lines;
  static_cast<void>(outputs.begin(1));
  outputs.use(1, lines.handler());
  const output_pipes pipes = outputs.open(1);
  ASSERT_TRUE(pipes.out && pipes.err);
  EXPECT_FALSE(outputs.open(1).out) << "it has some";
  write_to(pipes.out, "a\n");
  write_to(pipes.err, "b\n");
  outputs.use(1, {});
  const auto all = lines.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NE(all[0].stream, all[1].stream);
  outputs.undo_open(1);
  EXPECT_TRUE(outputs.open(1).out);
}

TEST(target_outputs, of_a_process_that_takes_a_number_over) {
  target_outputs outputs;
  received_lines lines;
  static_cast<void>(outputs.begin(1));
  outputs.use(1, lines.handler());
  std::optional<target_outputs::number_of_start> start(std::in_place, outputs, 5, 1);
  output_pipes second = outputs.begin(5);
  ASSERT_TRUE(second.out) << "from its start on";
  write_to(second.out, "cut");
  second = {};
  EXPECT_EQ(texts_of(lines.wait_for(1)), (words{"1:cut"}));
  EXPECT_EQ(lines.all().front().end, offload::line_end::end_of_output);
  start.emplace(outputs, 6, 1);
  const output_pipes third = outputs.begin(6);
  write_to(third.err, "more\n");
  EXPECT_EQ(texts_of(lines.wait_for(2)), (words{"1:cut", "1:more"}));
  EXPECT_FALSE(outputs.can_capture(5));
}

TEST(target_outputs, of_a_start_that_failed_is_not_taken_for_that_of_the_next) {
  target_outputs outputs;
  static_cast<void>(outputs.begin(1));
  { const target_outputs::number_of_start fails(outputs, 5, 1); }
  const target_outputs::number_of_start another(outputs, 5, -1);
  static_cast<void>(outputs.begin(5));
  EXPECT_TRUE(outputs.can_capture(5));
}

TEST(target_outputs, turns_of_a_number_come_one_after_the_other) {
  target_outputs outputs;
  std::optional<target_outputs::turn> first(std::in_place, outputs, 1);
  const target_outputs::turn of_other(outputs, 2);
  std::atomic<bool> ended{false};
  std::thread second([&] {
    const target_outputs::turn mine(outputs, 1);
    EXPECT_TRUE(ended);
  });
  received_lines lines;
  static_cast<void>(outputs.begin(1));
  outputs.use(1, [&](node_t, output_stream, std::string_view) {
    const target_outputs::turn in_handler(outputs, 1);  // does not wait: the line would never be over
    outputs.use(1, lines.handler());
  });
  const output_pipes pipes = outputs.open(1);
  write_to(pipes.out, "first\nsecond\n");
  lines.wait_for(1);
  ended = true;
  first.reset();
  second.join();
}

/// Else the process that is started would have one of them where the other one goes.
TEST(target_outputs, of_programs_without_standard_streams_do_not_take_their_places) {
  target_outputs outputs;
  static_cast<void>(outputs.begin(1));
  static_cast<void>(outputs.begin(2));
  const output_pipes others = outputs.open(2);  // who reads has what it needs
  const base::unique_fd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const base::unique_fd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ASSERT_TRUE(in && out);
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  const output_pipes pipes = outputs.open(1);
  ::dup2(in.get(), STDIN_FILENO);
  ::dup2(out.get(), STDOUT_FILENO);
  EXPECT_GT(pipes.fds().out, STDERR_FILENO);
  EXPECT_GT(pipes.fds().err, STDERR_FILENO);
}

TEST(target_outputs, of_a_number_that_is_forgotten_still_arrives) {
  target_outputs outputs;
  received_lines lines;
  static_cast<void>(outputs.begin(1));
  outputs.use(1, lines.handler());
  const output_pipes pipes = outputs.open(1);
  outputs.forget(1);
  EXPECT_FALSE(outputs.can_capture(1));
  EXPECT_FALSE(outputs.open(1).out);
  write_to(pipes.out, "late\n");
  EXPECT_EQ(texts_of(lines.wait_for(1)), (words{"1:late"}));
}

TEST(target_outputs, handlers_may_exchange_themselves) {
  received_lines lines;
  target_outputs outputs;
  static_cast<void>(outputs.begin(1));
  outputs.use(1, [&](node_t, output_stream, std::string_view) { outputs.use(1, lines.handler()); });
  const output_pipes pipes = outputs.open(1);
  write_to(pipes.out, "first\nsecond\n");
  EXPECT_EQ(texts_of(lines.wait_for(1)), (words{"1:second"}));
}

TEST(target_outputs, go_to_the_folder_of_the_setting) {
  const output_folder folder;
  {
    target_outputs outputs;
    const output_pipes one = outputs.begin(1);
    const output_pipes other = outputs.begin(2);
    ASSERT_TRUE(one.out && other.err);
    write_to(one.out, "of one\n");
    write_to(other.err, "of the other\nno newline");
  }
  EXPECT_EQ(folder.text_of("1.out"), "of one\n");
  EXPECT_EQ(folder.text_of("1.err"), "");
  EXPECT_EQ(folder.text_of("2.err"), "of the other\nno newline");
}

TEST(target_outputs, a_folder_is_made_or_the_start_fails) {
  const output_folder above;
  const std::string below = above.path() + "/below";
  ::setenv("HAM_OUTPUT", below.c_str(), 1);
  EXPECT_TRUE(target_outputs().begin(1).out);
  EXPECT_TRUE(std::filesystem::exists(below + "/1.err"));
  ::setenv("HAM_OUTPUT", (below + "/1.err").c_str(), 1);
  EXPECT_THROW(static_cast<void>(target_outputs().begin(1)), config_error);
  ::setenv("HAM_OUTPUT", (below + "/too/deep").c_str(), 1);
  EXPECT_THROW(static_cast<void>(target_outputs().begin(1)), config_error);
}

}  // namespace
}  // namespace ham::test
