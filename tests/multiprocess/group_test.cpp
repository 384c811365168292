// Groups of targets that are processes: many of them, several transports at once, and nodes that die.
// link: ham::ham
// timeout: 300
#include "tcp_server.hpp"

#include <csignal>
#include <functional>

#include "ham/offload/group.hpp"
#include "offload/group_tree.hpp"

using namespace ham;
using namespace ham::test;

namespace {

node_t where() { return offload::this_node(); }
pid_t my_pid() { return ::getpid(); }
std::string label(const std::string& text) { return text + std::to_string(offload::this_node()); }
std::size_t length(const std::string& text) { return text.size(); }
void die_on(node_t node) {
  if (offload::this_node() == node) ::raise(SIGKILL);
}
double first_element(const std::vector<offload::buffer_ptr<double>>& of) {
  return of.at(*this_call::group_position())[0];
}

/// All verbs, on whatever targets there are.
void expect_all_verbs() {
  const offload::group all;
  const auto expected = all.nodes();
  EXPECT_EQ(offload::sync_all(all, fn<&where>), expected);
  const auto texts = offload::sync_all(all, fn<&label>, "node ");
  for (std::size_t at = 0; at < texts.size(); ++at) EXPECT_EQ(texts[at], "node " + std::to_string(expected[at]));
  const node_t sum = offload::reduce_all(all, fn<&where>, std::plus<>()).get();
  EXPECT_EQ(sum, static_cast<node_t>(expected.size() * (expected.size() + 1) / 2));
  const std::string large(3 << 20, 'x');
  for (const std::size_t one : offload::sync_all(all, fn<&length>, large)) EXPECT_EQ(one, large.size());
  const auto buffers = offload::allocate_all<double>(all, 100'000);
  offload::broadcast(std::vector<double>(100'000, 2.5), buffers).get().values();
  for (const double one : offload::sync_all(all, fn<&first_element>, buffers)) EXPECT_EQ(one, 2.5);
  offload::barrier(all).get().values();
  for (const auto& one : buffers) offload::free(one);
}

}  // namespace

TEST(group, calls_sixteen_targets_over_shared_memory) {
  runtime job(nodes("shm:16"));
  expect_all_verbs();
}
TEST(group, calls_targets_that_only_the_host_connects) {
  runtime job(nodes("emulated:9"));
  expect_all_verbs();
}
TEST(group, calls_targets_over_several_transports) {
  runtime job(nodes("shm:5,emulated:3,shm:4"));
  expect_all_verbs();
}

TEST(group, calls_targets_over_tcp_beside_others) {
  const scratch_key key('7');
  const server first(key.path());
  const server second(key.path());
  runtime job(with_key(first.nodes() + ",shm:3," + second.nodes(), key.path()));
  expect_all_verbs();
}

/// Each call takes the place of the process that has died.
TEST(group, calls_what_is_started_again) {
  runtime job(nodes("shm:10+restart"));
  const offload::group all;
  const auto before = offload::sync_all(all, fn<&my_pid>);
  const auto hit = offload::async_all(all, fn<&die_on>, node_t{3}).get();
  EXPECT_FALSE(hit.ok(2));
  const node_t successor = offload::sync(3, fn<&where>);  // waits for it
  EXPECT_EQ(successor, offload::process_of(3));
  const auto after = offload::async_all(all, fn<&my_pid>).get();
  ASSERT_TRUE(after.ok(2)) << after.failures().size();
  EXPECT_NE(after[2], before[2]);
}

/// Of 16 targets, 1, 3, 5, ... are the first of parts of two.
TEST(group, loses_the_part_of_a_dead_node) {
  runtime job(nodes("shm:16"));
  const offload::group all;
  offload::sync_all(all, fn<&where>);
  const auto hit = offload::async_all(all, fn<&die_on>, node_t{5}).get();
  for (std::size_t at = 0; at < hit.size(); ++at) {
    const bool behind = all.nodes()[at] == 5 || all.nodes()[at] == 6;
    EXPECT_EQ(hit.ok(at), !behind) << all.nodes()[at];
    if (!behind) continue;
    try {
      std::rethrow_exception(hit.error(at));
    } catch (const node_failure& loss) {
      EXPECT_EQ(loss.node(), 5);
    }
  }
  // It is known to be lost now: the other node of its part answers.
  const auto after = offload::async_all(all, fn<&where>).get();
  for (std::size_t at = 0; at < after.size(); ++at) EXPECT_EQ(after.ok(at), at != 4);
  try {
    offload::reduce_all(all, fn<&where>, std::plus<>()).get();
    ADD_FAILURE() << "it has a value";
  } catch (const offload::group_error& why) {
    EXPECT_EQ(why.failures().size(), 1U);
    ASSERT_FALSE(why.failures().empty());
    EXPECT_EQ(why.failures()[0].node, 5);
    EXPECT_TRUE(std::string(why.what()).find("1 of 16 nodes of a group have failed: 5") != std::string::npos);
  }
  const offload::group rest;
  EXPECT_EQ(rest.size(), 15U);
  EXPECT_EQ(offload::sync_all(rest, fn<&where>), rest.nodes());
}

/// Killed from outside while calls are under way: every node of every call has one answer. 3 answers for 3 and 4.
TEST(group, answers_for_every_node_while_one_is_killed) {
  runtime job(nodes("shm:12"));
  const offload::group all;
  const pid_t victim = offload::sync(3, fn<&my_pid>);
  std::vector<offload::future<offload::group_result<node_t>>> calls;
  for (int i = 0; i < 400; ++i) {
    calls.push_back(offload::async_all(all, fn<&where>));
    if (i == 200) ::kill(victim, SIGKILL);
  }
  for (auto& one : calls) {
    const auto found = one.get();
    for (std::size_t at = 0; at < found.size(); ++at) {
      const node_t node = all.nodes()[at];
      if (found.ok(at))
        EXPECT_EQ(found[at], node);
      else
        EXPECT_TRUE(node == 3 || node == 4) << node;
    }
  }
}

TEST(group, reaches_128_nodes_along_a_tree_of_depth_3) {
  if (sanitized()) GTEST_SKIP() << "128 processes take too long";
  runtime job(nodes("shm:128"));
  EXPECT_EQ(group_tree::documented_depth(128), 3);
  group_tree::expect_tree();
}

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
