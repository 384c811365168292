// sim and islands in HAM_NODES.
#include "transport/factory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transport/cuda/emulated_device.hpp"
#include "transport/cuda/emulated_memory.hpp"
#include "transport/sim/plain_director.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport {

const factory& sim_factory();
const factory& islands_factory();

namespace {

TEST(sim_factory, needs_a_simulation) {
  EXPECT_FALSE(sim_factory().probe().available);
  sim::plain_director director;
  sim::network among(director);
  sim::set_current_network(&among);
  EXPECT_TRUE(sim_factory().probe().available);
  sim::set_current_network(nullptr);
}

TEST(sim_factory, its_targets_are_started_by_the_simulation_and_know_who_they_are) {
  sim::plain_director director;
  sim::network among(director);
  sim::set_current_network(&among);
  base::heap memory{base::heap::make_file()};
  struct : observer {
    void on_connected(endpoint&) override {}
    void on_broken(node_t, const std::string&) override {}
    void on_lost(node_t, const std::string&) override {}
  } nobody;
  {
    const host_parts parts = sim_factory().as_starting()->make_host(0, memory, nobody);
    const target_group group(sim_factory(), 2);
    parts.side->start(group,
                      {{.node = 1, .member = 0, .command = {}, .cores = {}, .environment = {}},
                       {.node = 2, .member = 1, .command = {}, .cores = {}, .environment = {}}},
                      {3, 3});
    ASSERT_EQ(director.started.size(), 2U);
    EXPECT_EQ(director.started[1]->self(), 2);
    EXPECT_EQ(director.started[1]->host(), 0);
    EXPECT_EQ(director.started[1]->nodes(), 3U);
    parts.side->end(1, std::chrono::milliseconds(5));
    EXPECT_EQ(director.ended, std::vector<node_t>{1});
  }
  sim::set_current_network(nullptr);
}

/// Node 1 has a device with memory, node 2 one that reaches memory of its process.
class director_with_devices final : public sim::director {
 public:
  [[nodiscard]] std::int64_t delay_ns(node_t, node_t) override { return 0; }
  [[nodiscard]] std::size_t capacity(node_t, node_t) override { return 64; }
  [[nodiscard]] std::size_t max_payload() const override { return 4096; }
  [[nodiscard]] sim::node_device device_of(node_t node) override {
    cuda::geometry of;
    of.arena_bytes = std::uint64_t{1} << 20U;
    sim::node_device made;
    made.limits = {node * 1000, 5000};
    if (node == 1 || node == 2) made.driver = std::make_unique<cuda::emulated_device>(of);
    if (node == 1) made.memory = std::make_unique<cuda::emulated_memory>(of);
    return made;
  }
  void start(std::unique_ptr<target_side> target, company) override { started.push_back(std::move(target)); }
  void end(node_t, std::chrono::milliseconds) override {}

  std::vector<std::unique_ptr<target_side>> started;
};

TEST(sim_factory, a_target_has_the_device_that_the_simulation_gives_it_and_memory_which_nobody_else_reaches) {
  director_with_devices director;
  sim::network among(director);
  sim::set_current_network(&among);
  base::heap memory{base::heap::make_file()};
  struct : observer {
    void on_connected(endpoint& with) override {
      std::lock_guard guard(mutex);
      reached[with.peer()] = with.memory() != nullptr;
    }
    void on_broken(node_t, const std::string&) override {}
    void on_lost(node_t, const std::string&) override {}
    bool has(node_t node, bool with_memory) {
      std::lock_guard guard(mutex);
      const auto found = reached.find(node);
      return found != reached.end() && found->second == with_memory;
    }
    std::mutex mutex;
    std::map<node_t, bool> reached;
  } host, target;
  {
    const host_parts parts = sim_factory().as_starting()->make_host(0, memory, host);
    parts.side->start(target_group(sim_factory(), 3),
                      {{.node = 1, .member = 0, .command = {}, .cores = {}, .environment = {}},
                       {.node = 2, .member = 1, .command = {}, .cores = {}, .environment = {}},
                       {.node = 3, .member = 2, .command = {}, .cores = {}, .environment = {}}},
                      {4, 4});
    std::vector<std::unique_ptr<base::heap>> heaps;
    std::vector<std::unique_ptr<transport>> nodes;
    for (const auto& one : director.started) {
      heaps.push_back(one->take_memory());
      nodes.push_back(one->open(target));
      one->join();
    }
    auto* const first = dynamic_cast<device_owner*>(nodes[0].get());
    auto* const second = dynamic_cast<device_owner*>(nodes[1].get());
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(dynamic_cast<device_owner*>(nodes[2].get()), nullptr);
    EXPECT_NE(first->take_memory(), nullptr);
    EXPECT_EQ(second->take_memory(), nullptr);
    EXPECT_NE(first->take_device(), nullptr);
    EXPECT_EQ(first->take_device(), nullptr) << "once";
    EXPECT_EQ(second->device_limits().linger_ns, 2000);
    EXPECT_STREQ(nodes[1]->device_type(), "cuda-emulated");
    EXPECT_TRUE(sim::eventually([&] { return host.has(1, false) && host.has(2, true) && host.has(3, true); }));
    EXPECT_TRUE(sim::eventually([&] { return target.has(0, true); })) << "devices reach memory of the host";
  }
  director.started.clear();
  sim::set_current_network(nullptr);
}

TEST(sim_factory, targets_of_islands_reach_their_host_only) {
  EXPECT_EQ(sim_factory().as_starting()->reaches(), company::targets);
  EXPECT_EQ(islands_factory().as_starting()->reaches(), company::nobody);
  EXPECT_EQ(islands_factory().name(), "islands");
}

}  // namespace
}  // namespace ham::transport
