// What a program says on stderr of errors that it has not read, across processes.
// link: ham::ham
// serial: no
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

using namespace ham;
using namespace ham::test;

namespace {

int fail(int number) { throw std::runtime_error("number " + std::to_string(number)); }
void fail_pinged() { throw std::runtime_error("pinged"); }
int echo(int value) { return value; }
void stop() { std::abort(); }
void sleep_long() { std::this_thread::sleep_for(1h); }

int drops() {
  runtime rt(nodes("shm:1"));
  auto room = offload::allocate<int>(1, 4);
  std::vector<int> local(100);
  offload::put(local.data(), room, 100);
  offload::free(room);
  offload::put(local.data(), room, 4);
  { auto dropped = offload::async(1, fn<&fail>, 1); }
  offload::async(1, fn<&fail>, 2).detach();
  offload::sync(1, fn<&echo>, 1);
  offload::ping(1, fn<&fail_pinged>);
  offload::sync(1, fn<&echo>, 1);
  return 0;
}

int drops_thousands() {
  runtime rt(nodes("shm:1"));
  for (int i = 0; i < 5000; ++i) {
    auto dropped = offload::async(1, fn<&fail>, i);
  }
  return 0;
}

int drops_a_killed_one() {
  runtime rt(nodes("shm:1"));
  { auto lost = offload::async(1, fn<&stop>); }
  return 0;
}

/// The futures of a node that is removed, and of a job that ends.
int ends_in_order() {
  {
    runtime rt(nodes("shm:2"));
    {
      auto lost = offload::async(1, fn<&sleep_long>);
      offload::async(1, fn<&sleep_long>).detach();
      offload::remove_node(1);
    }
    offload::async(2, fn<&sleep_long>).detach();
    [[maybe_unused]] static offload::future<void>* volatile kept;  // outlives the job, and is no leak
    kept = new offload::future<void>(offload::async(2, fn<&sleep_long>));
  }
  return 0;
}

/// A handler in a target gets what is dropped there.
std::atomic<int> told_here{0};
int drop_there() {
  on_unobserved_error([](const unobserved_error& what) {
    if (what.what == operation::call && what.at == 1 && what.node == 0) ++told_here;
  });
  { auto dropped = offload::async(0, fn<&fail>, 3); }
  return told_here.load();
}
int handles_in_a_target() {
  runtime rt(nodes("shm:1"));
  std::printf("told %d\n", offload::sync(1, fn<&drop_there>));
  return 0;
}

const scenario scenarios[] = {{"drops", drops},
                              {"drops_thousands", drops_thousands},
                              {"drops_a_killed_one", drops_a_killed_one},
                              {"ends_in_order", ends_in_order},
                              {"handles_in_a_target", handles_in_a_target}};

std::string output_with(const char* name, const std::vector<std::string>& environment = {}) {
  host_process host(name, environment);
  std::string text = host.rest();
  EXPECT_EQ(host.wait(), 0) << text;
  return text;
}
std::ptrdiff_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(unobserved_errors, are_lines_with_verb_node_and_function) {
  const std::string text = output_with("drops");
  EXPECT_NE(text.find("ham: node 0: nobody has read the error of a put to node 1: ham::buffer_error: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("freed"), std::string::npos) << text;
  EXPECT_NE(text.find("fail(int) on node 1: std::runtime_error: number 1"), std::string::npos) << text;
  EXPECT_NE(text.find("fail(int) on node 1: std::runtime_error: number 2"), std::string::npos) << text;
  EXPECT_NE(text.find("ham: node 1: "), std::string::npos) << text;
  EXPECT_NE(text.find("called by ping, threw std::runtime_error: pinged"), std::string::npos) << text;
  EXPECT_EQ(lines_in(text), 5) << text;
}

TEST(unobserved_errors, are_nothing_if_the_environment_says_so) {
  EXPECT_EQ(output_with("drops", {"HAM_UNOBSERVED_ERRORS=ignore"}), "");
}

TEST(unobserved_errors, of_thousands_are_few_lines) {
  const std::string text = output_with("drops_thousands");
  EXPECT_GE(lines_in(text), 10) << text;
  EXPECT_LE(lines_in(text), 100) << text;
  EXPECT_NE(text.find("more errors that nobody has read are not shown"), std::string::npos) << text;
}

TEST(unobserved_errors, of_a_node_that_died_are_told) {
  const std::string text = output_with("drops_a_killed_one");
  EXPECT_NE(text.find("stop() on node 1: ham::node_failure: node 1 failed"), std::string::npos) << text;
}

TEST(unobserved_errors, of_what_ends_in_order_are_none) { EXPECT_EQ(output_with("ends_in_order"), ""); }

TEST(unobserved_errors, go_to_the_handler_of_their_process) {
  EXPECT_EQ(output_with("handles_in_a_target"), "told 1\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
