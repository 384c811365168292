// Calls of one thread begin on a node in the order of sending, whatever goes on there: nested calls, coroutines and
// continuations that wait, batches, contexts, several threads. Real processes; every node checks what begins there.
// link: ham::ham
// env: HAM_POOL_THREADS=2
#include "support.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace ham;
using namespace ham::test;

namespace {

constexpr int senders = 8;
std::array<std::atomic<int>, senders> begun{};  // number of the last call of each sender that began on this node
std::atomic<int> out_of_order{0};

int echo(int value) { return value; }

offload::task<int> wander(node_t to) {
  int sum = co_await offload::async(to, fn<&echo>, 1);
  sum += offload::sync(to, fn<&echo>, 1);
  co_return sum + co_await offload::async(to, fn<&echo>, 1);
}

enum class deed : int { nothing, call_back, coroutine, continuation, pause, pool, count };

/// A numbered call. What it does after its begin gives later ones every chance to overtake.
int arrive(int sender, int number, node_t from, int what) {
  if (begun[static_cast<std::size_t>(sender)].exchange(number) + 1 != number) ++out_of_order;
  switch (static_cast<deed>(what)) {
    case deed::call_back: return offload::sync(from, fn<&echo>, number);
    case deed::coroutine: wander(from).as_future().detach(); break;
    case deed::continuation:
      offload::async(from, fn<&echo>, number)
          .then([from](int value) { return offload::sync(from, fn<&echo>, value); })
          .detach();
      break;
    case deed::pause: std::this_thread::sleep_for(50us); break;
    case deed::pool: return offload::sync(offload::this_node(), pooled(fn<&echo>), number);
    default: break;
  }
  return number;
}

int mistakes() { return out_of_order; }
int last_of(int sender) { return begun[static_cast<std::size_t>(sender)]; }

/// Sends numbered calls to one destination in every way there is, and waits for them now and then.
int drive(int sender, const offload::destination& to, int calls) {
  const node_t self = offload::this_node();
  auto random = static_cast<std::uint32_t>(sender + 1);
  const auto next = [&random](std::uint32_t below) {
    random = random * 1664525U + 1013904223U;
    return static_cast<int>((random >> 16) % below);
  };
  const auto what = [&next] { return next(static_cast<std::uint32_t>(deed::count)); };
  int wrong = 0;
  std::vector<std::pair<int, offload::future<int>>> pending;
  for (int number = 1; number <= calls;) {
    switch (next(8)) {
      case 0: offload::ping(to, fn<&arrive>, sender, number++, self, what()); break;
      case 1: {
        offload::batch together(to);
        for (int i = 0; i < 5 && number <= calls; ++i) {
          pending.emplace_back(number, together.add(fn<&arrive>, sender, number, self, what()));
          ++number;
        }
        break;
      }
      case 2: wander(to.node).as_future().detach(); break;
      case 3:
        for (auto& [expected, one] : pending) wrong += one.get() != expected;
        pending.clear();
        break;
      default: pending.emplace_back(number, offload::async(to, fn<&arrive>, sender, number, self, what())); ++number;
    }
  }
  for (auto& [expected, one] : pending) wrong += one.get() != expected;
  return wrong;
}

int drive_node(int sender, node_t to, int calls) { return drive(sender, to, calls); }

void expect_order(std::initializer_list<std::pair<int, node_t>> sent, int calls) {
  for (const auto& [sender, to] : sent)
    EXPECT_EQ(offload::sync(to, fn<&last_of>, sender), calls) << "of sender " << sender;
  for (node_t node = 0; node < static_cast<node_t>(offload::num_nodes()); ++node) {
    EXPECT_EQ(offload::sync(node, fn<&mistakes>), 0) << "on node " << node;
  }
}

void reset() {
  for (auto& one : begun) one = 0;
  out_of_order = 0;
}

TEST(order, of_one_sender_in_each_direction) {
  runtime rt(nodes("shm:1"));
  reset();
  const int calls = rounds(1500);
  auto there = offload::async(1, fn<&drive_node>, 1, 0, calls);
  EXPECT_EQ(drive(0, 1, calls), 0);
  EXPECT_EQ(there.get(), 0);
  expect_order({{0, 1}, {1, 0}}, calls);
}

TEST(order, of_two_threads_a_context_and_two_targets) {
  runtime rt(nodes("shm:2"));
  reset();
  const int calls = rounds(1000);
  offload::context queue(1);
  auto there = offload::async(1, fn<&drive_node>, 2, 0, calls);
  auto across = offload::async(2, fn<&drive_node>, 3, 1, calls);
  std::thread second([calls] { EXPECT_EQ(drive(1, 1, calls), 0); });
  std::thread third([&queue, calls] { EXPECT_EQ(drive(4, queue, calls), 0); });
  EXPECT_EQ(drive(0, 2, calls), 0);
  second.join();
  third.join();
  EXPECT_EQ(there.get(), 0);
  EXPECT_EQ(across.get(), 0);
  queue.close();
  expect_order({{0, 2}, {1, 1}, {2, 0}, {3, 1}, {4, 1}}, calls);
}

TEST(order, while_a_thread_of_the_host_computes_now_and_then) {
  runtime rt(nodes("shm:1"));
  reset();
  const int calls = rounds(1000);
  auto there = offload::async(1, fn<&drive_node>, 1, 0, calls);
  std::atomic<bool> over{false};
  std::thread second([&over] {
    while (!over) {
      static_cast<void>(offload::sync(1, fn<&echo>, 0));
      std::this_thread::sleep_for(300us);  // and then a burst has gathered
    }
  });
  EXPECT_EQ(drive(0, 1, calls), 0);
  EXPECT_EQ(there.get(), 0);
  over = true;
  second.join();
  expect_order({{0, 1}, {1, 0}}, calls);
}

}  // namespace
