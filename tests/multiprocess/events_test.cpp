// offload::on_event with processes that come, go and die.
// link: ham::ham
#include "support.hpp"

#include <csignal>

using namespace ham;
using namespace ham::test;
using offload::event;
using offload::event_kind;

namespace {

void crash() { ::raise(SIGKILL); }
int echo(int value) { return value; }
/// A target has a handler of its own: it sees other targets.
std::size_t& seen() {
  static std::size_t count = 0;
  return count;
}
void watch_there() {
  offload::on_event([](const event& what) { seen() += what.kind == event_kind::lost ? 1 : 0; });
}
int call_other(node_t node) { return offload::sync(node, fn<&echo>, 5); }
std::size_t seen_there() { return seen(); }

const event* find(const std::vector<event>& told, event_kind kind, node_t node) {
  for (const event& one : told) {
    if (one.kind == kind && one.node == node) return &one;
  }
  return nullptr;
}

TEST(events, of_nodes_that_join_die_and_are_removed) {
  runtime rt(nodes("shm:2"));
  std::vector<event> told;
  offload::on_event([&](const event& what) { told.push_back(what); });

  const node_t added = offload::add_node("shm:1");
  offload::sync(added, fn<&echo>, 1);
  EXPECT_NE(find(told, event_kind::joined, added), nullptr);

  auto doomed = offload::async(2, fn<&crash>);
  EXPECT_FALSE(doomed.has_value());
  offload::sync(1, fn<&echo>, 1);
  const event* const lost = find(told, event_kind::lost, 2);
  ASSERT_NE(lost, nullptr);
  EXPECT_FALSE(lost->orderly);
  EXPECT_NE(lost->reason.find("signal 9"), std::string::npos) << lost->reason;

  offload::remove_node(added);
  offload::sync(1, fn<&echo>, 1);
  const event* const removed = find(told, event_kind::lost, added);
  ASSERT_NE(removed, nullptr);
  EXPECT_TRUE(removed->orderly);
  EXPECT_EQ(told.size(), 3U);
}

TEST(events, a_target_sees_those_that_it_is_connected_to) {
  runtime rt(nodes("shm:2"));
  offload::sync(1, fn<&watch_there>);
  EXPECT_EQ(offload::sync(1, fn<&call_other>, 2), 5);
  auto doomed = offload::async(2, fn<&crash>);
  EXPECT_FALSE(doomed.has_value());
  EXPECT_TRUE(eventually([] { return offload::sync(1, fn<&seen_there>) == 1; }));
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
