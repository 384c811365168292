// What ham-trace last prints.
#include "../../tools/trace/last.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace ham::inline v1::trace {
namespace {

using action = node_recording::action;

std::string printed(const std::vector<node_recording>& job, std::size_t max_events = 10) {
  std::ostringstream out;
  print_last(out, job, max_events);
  return out.str();
}

TEST(trace_last, prints_what_each_thread_executes_and_did_before) {
  node_recording node;
  node.node = 1;
  node.pid = 4711;
  node.threads.push_back({4712,
                          {{action::executing, "outer()", 0, 5, 2.5}, {action::executing, "inner()", 2, 6, 0.0312}},
                          {{action::called, "f(int)", 2, 7, 0.0000125},
                           {action::sent_batch, "", 3, 12, 3},
                           {action::pinged, "g()", 0, 0xffffffff, -1}}});
  EXPECT_EQ(printed({node}),
            "node 1, pid 4711, dead\n"
            "  thread 4712\n"
            "       31.2 ms  executing   inner()  (call 6 of node 2)\n"
            "        2.5 s   executing   outer()  (call 5 of node 0)\n"
            "       12.5 us  called      f(int)  (call 7 to node 2)\n"
            "        3.0 s   sent batch  (12 calls to node 3)\n"
            "             -  pinged      g()  (ping to node 0)\n");
}

TEST(trace_last, prints_no_more_events_than_asked_for) {
  node_recording node;
  node.node = 0;
  node.pid = 1;
  node.alive = true;
  node.threads.push_back({2, {}, std::vector<node_recording::event>(50, {action::executed, "f()", 0, 1, 0.5})});
  const std::string text = printed({node}, 3);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
  EXPECT_EQ(text.find("dead"), std::string::npos);
}

TEST(trace_last, says_so_if_there_is_nothing) {
  node_recording node;
  node.node = 3;
  node.pid = 9;
  node.alive = true;
  EXPECT_EQ(printed({node}), "node 3, pid 9\n  has recorded nothing\n");
}

}  // namespace
}  // namespace ham::trace
