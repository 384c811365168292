// A library of functions that programs load while a job runs. They know nothing of it but its C functions.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "ham/offload.hpp"

using namespace ham;

namespace {

double scale(double value, double by) { return value * by; }
std::string where(const std::string& text) { return text + " on node " + std::to_string(offload::this_node()); }
int wait_for(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return milliseconds;
}

constexpr auto scale_call = named<"test_library.scale">(fn<&scale>);
constexpr auto where_call = named<"test_library.where">(fn<&where>);
constexpr auto wait_call = named<"test_library.wait">(fn<&wait_for>);

/// Calls another node from where it runs.
double scale_at(node_t node, double value, double by) { return offload::sync(node, scale_call, value, by); }
constexpr auto scale_at_call = named<"test_library.scale_at">(fn<&scale_at>);

offload::future<int> waiting;

/// The call waits in the context of the node when this returns.
void begin_waiting_at(node_t node, std::uint32_t context) {
  waiting = offload::async(offload::destination(node, context), wait_call, 1);
  static_cast<void>(offload::sync(node, where_call, "behind it"));
}
int end_waiting_here() { return waiting.get(); }
constexpr auto begin_waiting_at_call = named<"test_library.begin_waiting_at">(fn<&begin_waiting_at>);
constexpr auto end_waiting_here_call = named<"test_library.end_waiting_here">(fn<&end_waiting_here>);

const bool offered = offload::offer(scale_call) && offload::offer(where_call) && offload::offer(wait_call) &&
                     offload::offer(scale_at_call) && offload::offer(begin_waiting_at_call) &&
                     offload::offer(end_waiting_here_call);

/// 0: the call was refused because the node does not have the function.
template <class Call>
int tried(Call call) {
  try {
    return call() ? 1 : -1;
  } catch (const call_error& why) {
    std::printf("refused: %s\n", why.what());
    return why.reason() == call_error_reason::unknown_function ? 0 : -2;
  } catch (const std::exception& why) {
    std::printf("failed: %s\n", why.what());
    return -3;
  }
}

}  // namespace

extern "C" {

/// 1: the result is right; 0: the node does not have the function; else something is wrong.
int test_scale(int node) {
  return tried([node] { return offload::sync(node, scale_call, 2.0, 3.5) == 7.0; });
}
int test_where(int node) {
  return tried([node] { return offload::sync(node, where_call, "here") == "here on node " + std::to_string(node); });
}
int test_scale_at(int node, int other) {
  return tried([=] { return offload::sync(node, scale_at_call, node_t{other}, 1.5, 4.0) == 6.0; });
}
int test_batch(int node) {
  return tried([node] {
    offload::batch both(node);
    auto first = both.add(scale_call, 1.0, 2.0);
    auto second = both.add(scale_call, 3.0, 4.0);
    both.submit();
    return first.get() + second.get() == 14.0;
  });
}
void begin_waiting(int node, int milliseconds) { waiting = offload::async(node, wait_call, milliseconds); }
int end_waiting() { return waiting.get(); }
void begin_waiting_of(int caller, int node, unsigned context) {
  offload::sync(caller, begin_waiting_at_call, node_t{node}, std::uint32_t{context});
}
int end_waiting_of(int caller) { return offload::sync(caller, end_waiting_here_call); }
}
