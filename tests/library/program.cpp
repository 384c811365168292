// Loads libraries on nodes while its job runs: program LIBRARY (NODES | over KIND | ranks). Prints what went wrong.
#include <dlfcn.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload.hpp"
#include "ham/offload/library.hpp"
#include "ham/offload/supervise.hpp"
#include "multiprocess/target_kinds.hpp"

using namespace ham;

namespace {

int problems = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  ++problems;
}
#define EXPECT(condition) expect(condition, #condition)

template <class Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

template <class What>
std::string refusal_of(What what) {
  try {
    what();
  } catch (const call_error& why) {
    return why.what();
  }
  return {};
}

/// Called on node 1: only the host may have others load something.
std::string load_on_host(const std::string& path) {
  return refusal_of([&] { static_cast<void>(offload::load_library(0, path)); });
}

/// All threads that call a function first, at the same time, reach it.
void check_threads(const std::string& path, int (*scale)(int)) {
  for (int round = 0; round < 20; ++round) {
    static_cast<void>(offload::load_library(1, path));  // what is known of node 1 is forgotten
    std::atomic<bool> go{false};
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (!go) std::this_thread::yield();
        if (scale(1) == 1) ++right;
      });
    }
    go = true;
    for (std::thread& one : threads) one.join();
    EXPECT(right == 4);
  }
}

std::atomic<bool> holds{false}, gate{false};
void hold() {
  holds = true;
  while (!gate) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
void await_hold() {
  while (!holds) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
void let_go() { gate = true; }
void do_nothing() {}
/// What this node has sent there before has arrived.
void see_arrived(node_t there) { offload::sync(there, fn<&do_nothing>); }

/// A call that node 2 has made waits on node 1 behind another one: nobody but node 1 can see it.
void check_call_that_waits(const std::string& path, void* kernels) {
  auto* const begin = function_of<void(int, int, unsigned)>(kernels, "begin_waiting_of");
  auto* const end = function_of<int(int)>(kernels, "end_waiting_of");
  const offload::library on_1 = offload::load_library(1, path);
  offload::context busy(1);
  auto held = offload::async(busy, fn<&hold>);
  offload::sync(1, fn<&await_hold>);  // which comes another way
  begin(2, 1, busy.id());
  offload::sync(2, fn<&see_arrived>, 1);
  EXPECT(refusal_of([&] { offload::unload_library(on_1); }).find("wait there") != std::string::npos);
  offload::sync(1, fn<&let_go>);
  EXPECT(end(2) == 1);
  held.get();
  busy.close();  // its thread has left the library
  offload::unload_library(on_1);
  static_cast<void>(offload::load_library(1, path));
}

void crash() { std::raise(SIGKILL); }

/// The process that has loaded it is followed by another one, which has not.
void check_restart(const std::string& path, int (*scale)(int), void (*begin_waiting)(int, int), int (*end_waiting)()) {
  offload::supervise(1);
  const offload::library of_first = offload::load_library(1, path);
  auto doomed = offload::async(1, fn<&crash>);
  doomed.wait();
  EXPECT(!doomed.has_value());
  EXPECT(scale(1) == 0);
  const offload::library of_second = offload::load_library(1, path);
  EXPECT(scale(1) == 1);
  EXPECT(of_second.node() == offload::process_of(1));
  bool refused = false;
  try {
    offload::unload_library(of_first);
  } catch (const node_failure&) {
    refused = true;
  }
  EXPECT(refused);
  EXPECT(scale(1) == 1);
  begin_waiting(1, 300);
  EXPECT(refusal_of([&] { offload::unload_library(of_second); }).find("are pending") != std::string::npos);
  EXPECT(end_waiting() == 300);
  offload::unload_library(of_second);
  EXPECT(scale(1) == 0);
}

void check(const std::string& path, bool has_worker, bool restarts) {
  EXPECT(offload::load_library(0, path).functions().size() == 6);
  void* const here = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  auto* const scale = function_of<int(int)>(here, "test_scale");
  auto* const where = function_of<int(int)>(here, "test_where");
  auto* const batch = function_of<int(int)>(here, "test_batch");
  auto* const scale_at = function_of<int(int, int)>(here, "test_scale_at");
  auto* const begin_waiting = function_of<void(int, int)>(here, "begin_waiting");
  auto* const end_waiting = function_of<int()>(here, "end_waiting");

  // A node that has not loaded it: an error, and nothing else.
  EXPECT(scale(0) == 1);
  EXPECT(scale(1) == 0);
  EXPECT(batch(2) == 0);

  // One that has: all of it works, and the other still refuses.
  const offload::library on_1 = offload::load_library(1, path);
  EXPECT(on_1.functions().size() == 6);
  EXPECT(offload::load_library(1, path).number() == on_1.number());
  EXPECT(scale(1) == 1);
  EXPECT(where(1) == 1);
  EXPECT(batch(1) == 1);
  EXPECT(scale(2) == 0);
  EXPECT(scale_at(1, 2) != 1);

  // Nodes learn of each other's.
  const offload::library on_2 = offload::load_library(2, path);
  EXPECT(scale(2) == 1);
  EXPECT(scale_at(2, 1) == 1);
  EXPECT(scale_at(2, 0) == 1);

  // Unloading waits for nobody, and refuses.
  begin_waiting(1, 300);
  EXPECT(refusal_of([&] { offload::unload_library(on_1); }).find("are pending") != std::string::npos);
  EXPECT(end_waiting() == 300);
  offload::unload_library(on_1);
  offload::unload_library(on_1);
  EXPECT(scale(1) == 0);
  EXPECT(scale(2) == 1);

  // And back again.
  static_cast<void>(offload::load_library(1, path));
  EXPECT(where(1) == 1);
  EXPECT(scale(1) == 1);

  EXPECT(refusal_of([] {
           static_cast<void>(offload::load_library(1, "/no/such/library.so"));
         }).find("/no/such/library.so") != std::string::npos);
  check_threads(path, scale);
  if (has_worker) return;
  check_call_that_waits(path, here);
  EXPECT(offload::sync(1, fn<&load_on_host>, path).find("only the host may") != std::string::npos);
  if (restarts) check_restart(path, scale, begin_waiting, end_waiting);
}

/// Nodes of one process have what one of them has loaded.
void check_threads_of_one_process(const std::string& path) {
  const offload::library on_1 = offload::load_library(1, path);
  EXPECT(on_1.functions().size() == 6);
  void* const here = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  auto* const scale = function_of<int(int)>(here, "test_scale");
  EXPECT(scale(0) == 1);
  EXPECT(scale(1) == 1);
  EXPECT(scale(2) == 1);
  EXPECT(offload::load_library(2, path).number() == on_1.number());
  offload::unload_library(on_1);
  EXPECT(scale(2) == 1);  // this process has it by dlopen
}

int result() {
  std::printf("%d problems\n", problems);
  return problems == 0 ? 0 : 1;
}

/// On two targets of a kind.
int check_over(const std::string& path, const std::string& kind) {
  const auto* const found = std::find_if(test::target_kinds.begin(), test::target_kinds.end(),
                                         [&](const auto& one) { return one.name == kind; });
  if (found == test::target_kinds.end()) return 2;
  test::job_of_kind targets(*found);
  if (const std::string why = targets.why_not(); !why.empty()) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  const runtime job(targets.options(2));
  if (targets.has_threads())
    check_threads_of_one_process(path);
  else
    check(path, false, true);
  return result();
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(argc, argv);
  if (std::getenv("HAM_TEST_SCENARIO") != nullptr) return test::serve();
  if (argc < 3) return 2;
  const std::string nodes = argv[2];
  if (nodes == "over") return check_over(argv[1], argv[3]);
  runtime_options options;
  if (nodes != "ranks") options.nodes = nodes;
  const runtime job(options);
  check(argv[1], nodes.find("ham-worker") != std::string::npos, nodes != "ranks");
  return result();
}
