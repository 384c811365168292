// What runs across the machines of machines.sh: application check MACHINE... | linger | cut
#include <ham/offload.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace ham;
using namespace std::chrono_literals;

namespace {

int failures = 0;

#define EXPECT(what)                                                    \
  do {                                                                  \
    if (!(what)) {                                                      \
      ++failures;                                                       \
      std::fprintf(stderr, "line %d: not true: %s\n", __LINE__, #what); \
    }                                                                   \
  } while (false)

int add(int a, int b) { return a + b; }
int add_at(node_t where, int a, int b) { return offload::sync(where, fn<&add>, a, b); }
std::string echo(const std::string& text) { return text; }
void complain(const std::string& why) { throw std::domain_error(why); }
void wait_long() { std::this_thread::sleep_for(100s); }
bool call_fails(node_t other) {
  try {
    offload::sync(other, fn<&add>, 1, 2);
  } catch (const node_failure& failure) {
    return failure.node() == other;
  }
  return false;
}

node_t nodes() { return static_cast<node_t>(offload::num_nodes()); }

/// Calls in every direction, long messages, many at once, an exception.
void check_calls() {
  for (node_t from = 1; from < nodes(); ++from) {
    for (node_t to = 0; to < nodes(); ++to) EXPECT(offload::sync(from, fn<&add_at>, to, from, to) == from + to);
    const std::string text(3'000'000, static_cast<char>('a' + from));
    EXPECT(offload::sync(from, fn<&echo>, text) == text);
    bool thrown = false;
    try {
      offload::sync(from, fn<&complain>, "as asked");
    } catch (const std::domain_error& error) {
      thrown = error.what() == std::string("as asked");
    }
    EXPECT(thrown);
  }
  std::vector<offload::future<int>> sums;
  for (int i = 0; i < 2000; ++i) sums.push_back(offload::async(1 + i % (nodes() - 1), fn<&add>, i, 1));
  for (int i = 0; i < 2000; ++i) EXPECT(sums[static_cast<std::size_t>(i)].get() == i + 1);
}

/// From the host to the first target, from each to the next, and back.
void check_memory() {
  constexpr std::size_t count = 500'000;
  std::vector<double> sent(count);
  std::iota(sent.begin(), sent.end(), 0.5);
  std::vector<offload::buffer<double>> there;
  for (node_t node = 1; node < nodes(); ++node) there.emplace_back(node, count);
  offload::put_sync(sent.data(), there.front().ptr(), count);
  for (std::size_t i = 1; i < there.size(); ++i) offload::copy_sync(there[i - 1].ptr(), there[i].ptr(), count);
  std::vector<double> got(count);
  offload::get_sync(there.back().ptr(), got.data(), count);
  EXPECT(got == sent);
}

/// The nodes are on these machines, and do what they should.
int check(const std::vector<std::string>& machines) {
  EXPECT(offload::num_nodes() == machines.size());
  for (node_t node = 0; node < nodes(); ++node) {
    const auto about = offload::get_node_descriptor(node);
    std::printf("node %d on %s by %s\n", node, about.name().c_str(), about.transport().c_str());
    EXPECT(static_cast<std::size_t>(node) < machines.size() &&
           about.name() == machines[static_cast<std::size_t>(node)]);
  }
  if (failures == 0) check_calls();
  if (failures == 0) check_memory();
  std::printf("%s\n", failures == 0 ? "all is well" : "failed");
  return failures == 0 ? 0 : 1;
}

long long now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The host goes on for a while when its job has ended.
int linger() {
  check_calls();
  if (failures != 0) return 1;
  std::atexit([] {
    std::this_thread::sleep_for(1s);
    std::printf("all is well\n");
  });
  return 0;
}

/// Node 1 is lost while one call to it runs and others come and go; node 2 is not. Says when.
int cut() {
  const offload::context aside(1);
  auto waiting = offload::async(aside, fn<&wait_long>);
  EXPECT(offload::sync(2, fn<&add_at>, node_t{1}, 1, 2) == 3);
  std::printf("under way\n");
  std::fflush(stdout);
  try {
    for (;;) offload::sync(1, fn<&add>, 1, 2);
  } catch (const node_failure& failure) {
    std::printf("calls failed at %lld: %s\n", now_ms(), failure.what());
    EXPECT(failure.node() == 1);
  }
  try {
    waiting.get();
    EXPECT(false);
  } catch (const node_failure& failure) {
    std::printf("the long call failed at %lld: %s\n", now_ms(), failure.what());
    EXPECT(failure.node() == 1);
  }
  EXPECT(!offload::alive(1));
  EXPECT(offload::sync(2, fn<&add>, 1, 2) == 3);
  EXPECT(offload::sync(2, fn<&call_fails>, node_t{1}));
  std::printf("%s\n", failures == 0 ? "all is well" : "failed");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "check") return check({argv + 2, argv + argc});
  if (word == "linger") return linger();
  if (word == "cut") return cut();
  if (word == "exit" && argc > 2) return std::atoi(argv[2]);
  if (word == "wait") {
    std::printf("under way\n");
    std::fflush(stdout);
    wait_long();
  }
  return 2;
}
