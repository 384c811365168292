// What real targets write, by whatever means, arrives line by line: of long lines, killed processes, new ones.
// link: ham::ham
// timeout: 300
#include <csignal>
#include <functional>
#include <iostream>
#include <iterator>
#include <thread>

#include "holdings.hpp"
#include "job/captured_output.hpp"
#include "tcp_server.hpp"

using namespace ham;
using namespace ham::test;
using offload::line_end;
using offload::output_stream;

namespace {

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}
void nothing() {}
void say(const std::string& text) { std::cout << text << std::endl; }
/// Beside the streams of the library, which put lines together.
void write_raw(const std::string& text) { write_all(STDOUT_FILENO, text); }
void print_without_newline(const std::string& text) { std::printf("%s", text.c_str()); }

std::string numbered(const char* name, int number) { return name + (" " + std::to_string(number)); }
void print_on_both(int lines) {
  std::thread other([lines] {
    for (int i = 0; i < lines; ++i) std::cerr << numbered("err", i) << '\n';
  });
  for (int i = 0; i < lines; ++i) std::cout << numbered("out", i) << '\n';
  other.join();
}
void write_and_die(int lines) {
  for (int i = 0; i < lines; ++i) write_raw(numbered("out", i) + "\n");
  write_raw("the last wor");
  ::raise(SIGKILL);
}
/// A process that has the target's output, and outlives it.
pid_t leave_a_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    write_all(STDOUT_FILENO, "from the child\n");
    for (;;) ::pause();
  }
  return child;
}

std::vector<std::string> texts_of(const std::vector<received_line>& lines, output_stream stream) {
  std::vector<std::string> texts;
  for (const received_line& one : lines) {
    if (one.stream == stream) texts.push_back(one.text);
  }
  return texts;
}
std::vector<std::string> all_numbered(const char* name, int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back(numbered(name, i));
  return texts;
}
using words = std::vector<std::string>;

/// Every way to start targets whose output can be captured.
class captured : public testing::TestWithParam<const char*> {
 protected:
  static runtime_options targets() { return nodes(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(from, captured, testing::Values("shm:2", "exec:/proc/self/exe*2", "emulated:2"),
                         [](const auto& info) {
                           const std::string text = info.param;
                           return text.substr(0, text.find(':'));
                         });

TEST_P(captured, many_lines_of_two_streams_and_nodes) {
  constexpr int lines = 5000;
  received_lines of_one, of_other;
  runtime rt(targets());
  offload::on_output(1, of_one.handler());
  offload::on_output(2, of_other.handler());
  auto first = offload::async(1, fn<&print_on_both>, lines);
  auto second = offload::async(2, fn<&print_on_both>, lines);
  // The host makes no progress meanwhile, and the targets write more than pipes hold.
  of_one.wait_for(2 * lines);
  of_other.wait_for(2 * lines);
  first.get();
  second.get();
  for (received_lines* const one : {&of_one, &of_other}) {
    const auto all = one->all();
    EXPECT_EQ(texts_of(all, output_stream::out), all_numbered("out", lines));
    EXPECT_EQ(texts_of(all, output_stream::err), all_numbered("err", lines));
    const node_t node = one == &of_one ? 1 : 2;
    for (const received_line& line : all) ASSERT_EQ(line.node, node);
  }
}

TEST(on_output, all_lines_of_a_call_have_come_when_it_is_called_again) {
  received_lines lines, later;
  runtime rt(nodes("shm:1"));
  offload::on_output(1, lines.handler());
  for (int i = 0; i < 50; ++i) offload::sync(1, fn<&say>, numbered("out", i));
  offload::on_output(1, later.handler());
  EXPECT_EQ(texts_of(lines.all(), output_stream::out), all_numbered("out", 50));
  offload::sync(1, fn<&say>, std::string("more"));
  EXPECT_EQ(later.wait_for(1).front().text, "more");
}

TEST(on_output, nothing_is_lost_when_a_target_is_killed) {
  constexpr int lines = 1000;
  received_lines got;
  runtime rt(nodes("shm:1"));
  offload::on_output(1, got.handler());
  EXPECT_THROW(offload::sync(1, fn<&write_and_die>, lines), node_failure);
  auto all = got.wait_for(lines + 1);
  EXPECT_EQ(all.back().text, "the last wor");
  EXPECT_EQ(all.back().end, line_end::end_of_output);
  all.pop_back();
  EXPECT_EQ(texts_of(all, output_stream::out), all_numbered("out", lines));
}

TEST(on_output, of_processes_that_take_a_number_over) {
  received_lines got;
  runtime rt(nodes("shm:2"));
  offload::supervise(1);
  offload::on_output(1, got.handler());
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(offload::sync(1, fn<&write_and_die>, 1), node_failure);
    offload::sync(1, fn<&say>, std::string("again"));
  }
  const auto all = got.wait_for(9);
  for (const received_line& one : all) EXPECT_EQ(one.node, 1);
  const words texts = texts_of(all, output_stream::out);
  for (const char* const text : {"out 0", "the last wor", "again"})
    EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 3) << text;
}

TEST(on_output, of_a_number_that_is_being_started_again) {
  received_lines got;
  runtime rt(nodes("shm:1+restart"));
  EXPECT_THROW(offload::sync(1, fn<&write_and_die>, 0), node_failure);
  offload::on_output(1, got.handler());
  offload::sync(1, fn<&say>, std::string("again"));
  EXPECT_EQ(got.wait_for(1).back().text, "again");
}

std::function<void()> on_host;
void act_on_host() { on_host(); }
void have_host_act() { offload::sync(0, fn<&act_on_host>); }

/// The target calls the host before it comes to the call by which its output is led elsewhere: that call arrives while
/// on_output waits.
TEST(on_output, within_a_call_that_has_come_while_it_was_first_asked_for) {
  received_lines first, second;
  runtime rt(nodes("shm:1"));
  int runs = 0;
  on_host = [&] {
    ++runs;
    offload::on_output(1, second.handler());
  };
  auto calls_back = offload::async(1, fn<&have_host_act>);
  offload::on_output(1, first.handler());
  calls_back.get();
  EXPECT_EQ(runs, 1);
  offload::sync(1, fn<&say>, std::string("to the second"));
  EXPECT_EQ(second.wait_for(1).front().text, "to the second");
  EXPECT_TRUE(first.all().empty());
}

TEST(on_output, bytes_and_long_lines_stay_as_they_are) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i == '\n' ? ' ' : i);
  const std::string mebibyte(offload::max_output_line, 'm');
  received_lines got;
  runtime rt(nodes("shm:1"));
  offload::on_output(1, got.handler());
  offload::sync(1, fn<&write_raw>, bytes + "\n" + mebibyte + "\n" + mebibyte + mebibyte + "x\n");
  offload::sync(1, fn<&say>, mebibyte);
  const auto all = got.wait_for(6);
  EXPECT_EQ(all[0].text, bytes);
  EXPECT_TRUE(all[1].text == mebibyte && all[1].end == line_end::newline);
  EXPECT_TRUE(all[2].text == mebibyte && all[2].end == line_end::part);
  EXPECT_TRUE(all[3].text == mebibyte && all[3].end == line_end::part);
  EXPECT_TRUE(all[4].text == "x" && all[4].end == line_end::newline);
  EXPECT_TRUE(all[5].text == mebibyte && all[5].end == line_end::newline) << "of a stream of the library";
}

TEST(on_output, what_has_no_newline_comes_at_the_end) {
  received_lines got;
  {
    runtime rt(nodes("shm:1"));
    offload::on_output(1, got.handler());
    offload::sync(1, fn<&print_without_newline>, std::string("no newline"));
  }
  ASSERT_EQ(got.all().size(), 1U);
  EXPECT_EQ(got.all().front().text, "no newline");
  EXPECT_EQ(got.all().front().end, line_end::end_of_output);
}

TEST(on_output, a_process_that_outlives_the_target_keeps_nobody_waiting) {
  received_lines got;
  pid_t child = 0;
  {
    runtime rt(nodes("shm:1"));
    offload::on_output(1, got.handler());
    child = offload::sync(1, fn<&leave_a_child>);
    EXPECT_EQ(got.wait_for(1).front().text, "from the child");
  }
  ASSERT_GT(child, 0);
  EXPECT_EQ(::kill(child, SIGKILL), 0) << "it was still there";
}

TEST(on_output, nobody_else_is_captured_and_that_is_said) {
  const server waiting("");
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  received_lines got;
  runtime rt(nodes(waiting.nodes() + ",shm:1"));
  ::unsetenv("HAM_TCP_SECURITY");
  const auto why_not = [&](node_t node) -> std::string {
    try {
      offload::on_output(node, got.handler());
    } catch (const config_error& problem) {
      return problem.what();
    }
    return {};
  };
  EXPECT_NE(why_not(0).find("is the host"), std::string::npos);
  EXPECT_NE(why_not(1).find("node 1 cannot be captured"), std::string::npos);
  EXPECT_EQ(why_not(2), "");
  EXPECT_NE(why_not(3).find("node 3 cannot be captured"), std::string::npos);
  EXPECT_EQ(offload::sync(2,
                          [] {
                            try {
                              offload::on_output(2, {});
                            } catch (const config_error& problem) {
                              return std::string(problem.what());
                            }
                            return std::string();
                          }),
            "only the host, node 0, captures the output of nodes; call it there");
}

TEST(on_output, of_a_node_that_is_lost_is_an_error) {
  received_lines got;
  runtime rt(nodes("shm:1"));
  EXPECT_THROW(offload::sync(1, fn<&write_and_die>, 0), node_failure);
  EXPECT_THROW(offload::on_output(1, got.handler()), node_failure);
  const node_t added = offload::add_node("shm:1");
  offload::on_output(added, got.handler());
  offload::sync(added, fn<&say>, std::string("added"));
  EXPECT_EQ(got.wait_for(1).front().text, "added");
  offload::remove_node(added);
  EXPECT_THROW(offload::on_output(added, got.handler()), config_error);
}

TEST(output_in_files, has_all_from_the_start_on) {
  const output_folder folder;
  {
    runtime rt(nodes("shm:2+restart"));
    offload::sync(1, fn<&say>, std::string("one"));
    EXPECT_THROW(offload::sync(1, fn<&write_and_die>, 1), node_failure);
    offload::sync(1, fn<&print_without_newline>, std::string("again"));
    offload::sync(2, fn<&print_on_both>, 2);
    received_lines got;
    offload::on_output(2, got.handler());  // from now on not in the file
    offload::sync(2, fn<&say>, std::string("to the handler"));
    EXPECT_EQ(got.wait_for(1).front().text, "to the handler");
    offload::on_output(2, {});
    offload::sync(2, fn<&say>, std::string("to the file"));
  }
  EXPECT_EQ(folder.text_of("1.out"), "one\nout 0\nthe last wor\nagain");
  EXPECT_EQ(folder.text_of("1.err"), "");
  EXPECT_EQ(folder.text_of("2.out"), "out 0\nout 1\nto the file\n");
  EXPECT_EQ(folder.text_of("2.err"), "err 0\nerr 1\n");
}

int back_to_the_host() {
  received_lines got;
  runtime rt(nodes("shm:1"));
  offload::sync(1, fn<&say>, std::string("inherited"));
  offload::on_output(1, got.handler());
  offload::sync(1, fn<&say>, std::string("captured"));
  offload::on_output(1, {});
  offload::sync(1, fn<&say>, std::string("given back"));
  return got.all().size() == 1 && got.all().front().text == "captured" ? 0 : 1;
}

/// The host has a thread and pipes only if something is captured.
int nothing_is_made() {
  runtime rt(nodes("shm:1"));
  offload::sync(1, fn<&nothing>);
  const holdings before = settled(0);  // a thread that answers others may have a descriptor open for a moment
  offload::on_output(1, [](node_t, output_stream, std::string_view) {});
  const holdings after = settled(0);
  std::cout << after.threads - before.threads << ' ' << std::ssize(after.files) - std::ssize(before.files) << std::endl;
  return 0;
}

const scenario scenarios[] = {{"back_to_the_host", back_to_the_host}, {"nothing_is_made", nothing_is_made}};

TEST(on_output, may_be_given_back) { EXPECT_EQ(output_of("back_to_the_host"), "inherited\ngiven back\n"); }
TEST(on_output, costs_a_thread_and_four_descriptors_when_it_is_asked_for) {
  EXPECT_EQ(output_of("nothing_is_made"), "1 4\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
