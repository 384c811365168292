// Lines of one node: to handlers, to files, to the own output.
#include "job/node_output.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <stdexcept>

#include "job/captured_output.hpp"

namespace ham::inline v1::test {
namespace {

using base::line_end;
using detail::node_output;
using offload::output_stream;
using public_end = offload::line_end;

base::unique_fd opened(const output_folder& folder) {
  return base::unique_fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

TEST(node_output, goes_to_the_handler_with_node_stream_and_end) {
  received_lines lines;
  node_output output(7, -1);
  EXPECT_FALSE(output.is_wanted());
  output.use(lines.handler());
  EXPECT_TRUE(output.is_wanted());
  output.deliver(output_stream::out, "a", line_end::newline);
  output.deliver(output_stream::err, std::string_view("b\0c", 3), line_end::part);
  output.deliver(output_stream::err, "d", line_end::none);
  const std::vector<received_line> expected{{7, output_stream::out, "a", public_end::newline},
                                            {7, output_stream::err, std::string("b\0c", 3), public_end::part},
                                            {7, output_stream::err, "d", public_end::end_of_output}};
  EXPECT_EQ(lines.all(), expected);
}

TEST(node_output, handlers_may_take_the_text_alone) {
  std::string seen;
  node_output output(1, -1);
  output.use(
      [&](node_t node, output_stream, std::string_view line) { seen = std::to_string(node) + std::string(line); });
  output.deliver(output_stream::out, "x", line_end::newline);
  EXPECT_EQ(seen, "1x");
}

TEST(node_output, goes_to_files_that_grow) {
  const output_folder folder;
  const base::unique_fd fd = opened(folder);
  for (int run = 0; run < 2; ++run) {
    node_output output(3, fd.get());
    EXPECT_TRUE(output.is_wanted());
    output.deliver(output_stream::out, "one", line_end::newline);
    output.deliver(output_stream::out, std::string_view("t\0w", 3), line_end::part);
    output.deliver(output_stream::out, "o", line_end::newline);
    output.deliver(output_stream::err, "three", line_end::newline);
  }
  const std::string once("one\nt\0wo\n", 9);
  EXPECT_EQ(folder.text_of("3.out"), once + once);
  EXPECT_EQ(folder.text_of("3.err"), "three\nthree\n");
}

TEST(node_output, of_the_next_process_begins_a_line) {
  const output_folder folder;
  const base::unique_fd fd = opened(folder);
  node_output output(3, fd.get());
  output.deliver(output_stream::out, "killed he", line_end::none);
  EXPECT_EQ(folder.text_of("3.out"), "killed he");
  output.deliver(output_stream::out, "again", line_end::newline);
  EXPECT_EQ(folder.text_of("3.out"), "killed he\nagain\n");
}

TEST(node_output, goes_to_a_handler_in_place_of_files) {
  const output_folder folder;
  const base::unique_fd fd = opened(folder);
  received_lines lines;
  node_output output(3, fd.get());
  output.use(lines.handler());
  output.deliver(output_stream::out, "a", line_end::newline);
  output.use({});
  output.deliver(output_stream::out, "b", line_end::newline);
  EXPECT_EQ(lines.all().size(), 1U);
  EXPECT_EQ(folder.text_of("3.out"), "b\n");
}

TEST(node_output, goes_to_the_own_output_where_nobody_wants_it_any_more) {
  node_output output(3, -1);
  const redirected_descriptor out(STDOUT_FILENO), err(STDERR_FILENO);
  output.deliver(output_stream::out, "to out", line_end::newline);
  output.deliver(output_stream::err, "to err", line_end::newline);
  EXPECT_EQ(out.text(), "to out\n");
  EXPECT_EQ(err.text(), "to err\n");
}

TEST(node_output, goes_on_behind_a_handler_that_throws) {
  int calls = 0;
  node_output output(3, -1);
  output.use([&](node_t, output_stream, std::string_view line) {
    if (++calls == 1) throw std::runtime_error("not this: " + std::string(line));
    if (calls == 2) throw calls;
  });
  const redirected_descriptor err(STDERR_FILENO);
  for (int i = 0; i < 3; ++i) output.deliver(output_stream::out, "a", line_end::newline);
  EXPECT_EQ(calls, 3);
  EXPECT_NE(err.text().find("for node 3 has thrown: not this: a\n"), std::string::npos) << err.text();
  EXPECT_NE(err.text().find("has thrown something else\n"), std::string::npos) << err.text();
}

std::string problem_of_file(const output_folder& folder) {
  try {
    node_output output(3, opened(folder).get());
  } catch (const config_error& problem) {
    return problem.what();
  }
  return {};
}

TEST(node_output, needs_a_folder) {
  EXPECT_FALSE(node_output(3, -1).is_wanted());
  const base::unique_fd no_folder(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_THROW(node_output(3, no_folder.get()), config_error);
}

/// What another user has put into the folder.
TEST(node_output, goes_into_nothing_but_files) {
  const std::string refusal =
      "cannot open 3.err in the folder of HAM_OUTPUT (it is no file); remove it, or choose another folder";
  const output_folder folder;
  const std::string path = folder.path() + "/3.err";
  std::filesystem::create_symlink(folder.path() + "/elsewhere", path);
  EXPECT_EQ(problem_of_file(folder), refusal);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/elsewhere"));
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(problem_of_file(folder), refusal) << "nobody reads it, for which an opener would wait";
  const base::unique_fd read_by_somebody(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(problem_of_file(folder), refusal);
  std::filesystem::remove(path);
  EXPECT_EQ(problem_of_file(folder), "");
}

/// While it lives, files of this process end at so many bytes.
class file_limit {
 public:
  explicit file_limit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~file_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  file_limit(const file_limit&) = delete;
  file_limit& operator=(const file_limit&) = delete;

 private:
  rlimit before_{};
};

TEST(node_output, that_cannot_be_written_is_said_once) {
  const output_folder folder;
  node_output output(3, opened(folder).get());
  output.deliver(output_stream::out, std::string(5000, 'a'), line_end::newline);
  const redirected_descriptor err(STDERR_FILENO);
  const file_limit full(5000);  // the lines on stderr are shorter
  for (int i = 0; i < 3; ++i) output.deliver(output_stream::out, "a", line_end::newline);
  EXPECT_EQ(err.text(), "ham: 3.out cannot be written (File too large); output of node 3 is lost (said once)\n");
}

}  // namespace
}  // namespace ham::test
