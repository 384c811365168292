// Nodes that go while other threads call others: only calls to the lost node fail.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "ham/offload.hpp"
#include "runtime/engine.hpp"
#include "transport/loopback/transport.hpp"

namespace engine_loss_test {

using namespace ham;

int echo(int value) { return value; }

/// Node 0 is the test; every other node has a thread and can be ended alone.
class job {
 public:
  explicit job(std::size_t nodes) : nodes_(nodes), cluster_(std::make_shared<transport::loopback::cluster>(nodes)) {
    for (std::size_t node = 0; node < nodes_; ++node) seats_.push_back(seat(static_cast<node_t>(node)));
    threads_.resize(nodes_);
    for (std::size_t node = 1; node < nodes_; ++node) {
      threads_[node] = std::thread([&at = *seats_[node]] {
        at.serve();
        at.leave();
      });
      host().await_ready(static_cast<node_t>(node));
    }
  }
  ~job() {
    host().leave();
    for (std::size_t node = 1; node < nodes_; ++node) end(node);
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  [[nodiscard]] detail::engine& host() { return *seats_[0]; }
  void end(std::size_t node) {
    if (!threads_[node].joinable()) return;
    seats_[node]->end();
    threads_[node].join();
  }

 private:
  std::unique_ptr<detail::engine> seat(node_t node) {
    auto one = std::make_unique<detail::engine>(node, nodes_, std::make_unique<base::heap>(base::heap::make_file()));
    one->use(std::make_unique<transport::loopback::node_transport>(cluster_, node, &one->memory.own(), one->events));
    return one;
  }

  std::size_t nodes_;
  std::shared_ptr<transport::loopback::cluster> cluster_;
  std::vector<std::unique_ptr<detail::engine>> seats_;
  std::vector<std::thread> threads_;
};

TEST(engine_loss, calls_of_other_threads_to_other_nodes_are_not_touched) {
  constexpr std::size_t nodes = 40;
  job here(nodes);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 4; ++thread) {
    callers.emplace_back([&, thread] {
      const detail::engine_scope scope(&here.host());
      for (int i = 0; !stop.load() || i < 100; ++i) {
        try {
          if (offload::sync(1, fn<&echo>, i + thread) != i + thread) ++wrong;
          offload::async(offload::within(1, std::chrono::hours(1)), fn<&echo>, i).get();
          ++calls;
        } catch (const std::exception& problem) {
          ADD_FAILURE() << "a call to a node that lives failed: " << problem.what();
          return;
        }
      }
    });
  }
  const detail::engine_scope scope(&here.host());
  for (std::size_t node = 2; node < nodes && !testing::Test::HasFailure(); ++node) {
    std::vector<offload::future<int>> pending;
    for (int i = 0; i < 20; ++i) pending.push_back(offload::async(node, fn<&echo>, i));
    here.end(node);
    for (int i = 0; i < 20; ++i) {
      try {
        EXPECT_EQ(pending[static_cast<std::size_t>(i)].get(), i);
      } catch (const node_failure& lost) {
        EXPECT_EQ(lost.node(), static_cast<node_t>(node));
      }
    }
    EXPECT_THROW(offload::sync(node, fn<&echo>, 1), node_failure);
  }
  stop = true;
  for (std::thread& one : callers) one.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(calls.load(), 400 - 1);
}

}  // namespace engine_loss_test
