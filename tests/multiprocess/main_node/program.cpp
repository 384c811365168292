// A program whose main says where it runs, and ends in the way that its first argument names.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload.hpp"

using namespace ham;

namespace {

int here() { return static_cast<int>(offload::this_node()); }
double sum(offload::buffer_ptr<double> values, std::size_t count) {
  double result = 0;
  for (std::size_t i = 0; i < count; ++i) result += values.get()[i];
  return result;
}
int ask_main(int value) {
  return offload::sync(
      1, [](int given) { return given + here(); }, value);
}
struct told_at_end {
  ~told_at_end() { std::fprintf(stderr, "object of node %d destroyed\n", static_cast<int>(offload::this_node())); }
};
offload::remote<told_at_end> kept;

void talk_to_everybody() {
  std::string line = "calls reach";
  for (node_t node = 0; node < static_cast<node_t>(offload::num_nodes()); ++node)
    line += " " + std::to_string(offload::sync(node, fn<&here>));
  std::puts(line.c_str());
  const std::vector<double> values(1000, 0.5);
  auto far = offload::allocate<double>(0, values.size());
  offload::put(values.data(), far, values.size());
  std::printf("sum on the host %g\n", offload::sync(0, fn<&sum>, far, values.size()));
  offload::free(far);
  std::printf("back and forth %d\n", offload::sync(0, fn<&ask_main>, 41));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  std::string line =
      "main on node " + std::to_string(offload::this_node()) + " of " + std::to_string(offload::num_nodes()) + ":";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  std::puts(line.c_str());
  talk_to_everybody();
  std::fflush(stdout);
  if (how == "exit") std::exit(4);
  if (how == "exit_elsewhere") {
    std::thread([] { std::exit(5); }).join();
  }
  if (how == "exit_in_call") offload::sync(0, [] { offload::sync(1, [] { std::exit(6); }); });
  if (how == "throw") throw std::runtime_error("nobody catches this");
  if (how == "crash") ::raise(SIGSEGV);
  if (how == "vanish") ::_exit(0);
  if (how == "last_thread") {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::printf("a call after main %d\n", offload::sync(0, fn<&here>));
      std::fflush(stdout);
    }).detach();
    ::pthread_exit(nullptr);
  }
  if (how == "removes_itself") offload::sync(0, [] { offload::remove_node(1); });
  if (how == "slow_end") {
    static const struct slow_end {
      ~slow_end() {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        std::fputs("a destructor has ended\n", stderr);
      }
    } slow;
  }
  if (how == "waits_for_call") {  // without a call to HAM
    static std::atomic<bool> called{false};
    offload::ping(0, [] { offload::ping(1, [] { called = true; }); });
    while (!called) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (how == "another") {
    runtime again(argc, argv);
    std::printf("the second runtime has node %d\n", static_cast<int>(again.this_node()));
    std::fflush(stdout);
  }
  if (how == "object") kept = offload::make<told_at_end>(0);
  if (how == "host_ends") offload::sync(0, [] { std::exit(7); });
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
