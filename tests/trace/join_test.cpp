#include "trace/join.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "trace/parts_here.hpp"
#include "trace/proto_fields.hpp"

namespace {

using namespace ham::trace;
using namespace ham::test;
using enum ham::base::trace_kind;

/// A trace, read again.
struct joined_trace {
  explicit joined_trace(const job_parts& parts) {
    std::ostringstream out;
    result = write_trace(parts, out);
    for (const proto_fields& packet : proto_fields(out.str()).messages(1)) {
      for (const proto_fields& name : packet.message(12).messages(2)) names[name.number(1)] = name.text(2);
      for (const proto_fields& name : packet.message(12).messages(3)) notes[name.number(1)] = name.text(2);
      if (packet.has(60)) tracks.push_back(packet.message(60));
      if (packet.has(11)) events.emplace_back(packet.number(8), packet.message(11));
    }
  }
  [[nodiscard]] std::multiset<std::string> slices() const {
    std::multiset<std::string> all;
    for (const auto& [at, one] : events)
      if (one.number(9) == 1) all.insert(names.at(one.number(10)));
    return all;
  }
  [[nodiscard]] std::vector<proto_fields> named(const std::string& name) const {
    std::vector<proto_fields> all;
    for (const auto& [at, one] : events)
      if (one.has(10) && names.at(one.number(10)) == name) all.push_back(one);
    return all;
  }
  join_result result;
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::string> notes;
  std::vector<proto_fields> tracks;
  std::vector<std::pair<std::uint64_t, proto_fields>> events;
};

job_parts two_nodes() {
  call_between calls;
  calls.add(1000, 7);
  calls.add(2000, 8, 0, 1);
  return {part_of(0, calls.caller), part_of(1, calls.callee)};
}

TEST(join, has_a_process_for_each_node_and_its_threads) {
  const joined_trace trace(two_nodes());
  EXPECT_EQ(trace.result.nodes, 2U);
  std::set<std::string> processes;
  std::set<std::string> threads;
  for (const proto_fields& one : trace.tracks) {
    if (one.has(3)) processes.insert(one.message(3).text(6));
    if (one.has(4)) threads.insert(one.message(4).text(5));
  }
  EXPECT_EQ(processes, (std::set<std::string>{"node 0, host: test (pid 100, here)", "node 1: test (pid 101, here)"}));
  EXPECT_EQ(threads, (std::set<std::string>{"main 10", "main 11"}));
}

TEST(join, has_slices_of_stages_of_graphs_which_are_no_calls) {
  job_parts parts = two_nodes();
  parts[1].threads[0].events.push_back(event_of(stage, 5000, 6000, 1, 1, 7));
  const joined_trace trace(parts);
  ASSERT_EQ(trace.named("stage g(int)").size(), 1U);
  EXPECT_EQ(trace.result.calls, 2U);
  EXPECT_EQ(trace.result.arrows, joined_trace(two_nodes()).result.arrows);
}

TEST(join, has_slices_of_calls_at_both_ends) {
  const joined_trace trace(two_nodes());
  EXPECT_EQ(trace.result.calls, 2U);
  const auto slices = trace.slices();
  for (const char* const name : {"call f()", "wait for f()", "queue f()", "f()", "reply to f()", "g(int)"})
    EXPECT_EQ(slices.count(name), 1U) << name;
}

TEST(join, a_call_by_a_text_is_called_as_its_execution_says) {
  call_between calls;
  calls.add(1000, 7);
  constexpr std::uint32_t scale = ham::base::first_named_function | 5U;
  calls.callee[0] = event_of(executed, 1150, 1350, 0, scale, 7, 20);
  job_parts parts{part_of(0, calls.caller), part_of(1, calls.callee)};
  parts[1].texts[scale] = "my.scale";
  const joined_trace trace(parts);
  for (const char* const name :
       {"call my.scale", "queue my.scale", "my.scale", "reply to my.scale", "answer of my.scale"})
    EXPECT_EQ(trace.named(name).size(), 1U) << name;
  EXPECT_EQ(trace.named("call f()").size(), 0U);
}

TEST(join, every_begin_has_an_end) {
  const joined_trace trace(two_nodes());
  std::map<std::uint64_t, int> open;
  for (const auto& [at, one] : trace.events) {
    if (one.number(9) == 1) ++open[one.number(11)];
    if (one.number(9) == 2) {
      EXPECT_GE(--open[one.number(11)], 0);
    }
  }
  for (const auto& [track, count] : open) EXPECT_EQ(count, 0);
}

TEST(join, arrows_go_from_call_to_execution_and_from_reply_to_answer) {
  const joined_trace trace(two_nodes());
  EXPECT_EQ(trace.result.arrows, 4U);
  const auto call = trace.named("call f()").at(0);
  const auto executed = trace.named("f()").at(0);
  const auto reply = trace.named("reply to f()").at(0);
  const auto answer = trace.named("answer of f()").at(0);
  EXPECT_NE(call.number(47), 0U);
  EXPECT_EQ(call.number(47), executed.number(48));
  EXPECT_NE(reply.number(47), 0U);
  EXPECT_EQ(reply.number(47), answer.number(48));
  EXPECT_NE(call.number(47), reply.number(47));
}

TEST(join, of_one_clock_has_no_arrow_that_points_backwards) {
  EXPECT_LE(joined_trace(two_nodes()).result.max_backwards_ns, 0);
}

TEST(join, states_the_bounds_of_the_clocks) {
  const joined_trace trace(two_nodes());
  const auto remarks = trace.named("clock offset");
  ASSERT_EQ(remarks.size(), 2U);
  std::map<std::string, std::int64_t> last;
  for (const proto_fields& note : remarks[1].messages(4))
    last[trace.notes.at(note.number(1))] = static_cast<std::int64_t>(note.number(4));
  EXPECT_EQ(last.at("round_trips"), 2);
  EXPECT_EQ(last.at("bound_ns"), 100);
}

TEST(join, says_that_events_were_dropped) {
  auto parts = two_nodes();
  parts[1].dropped = 5;
  const joined_trace trace(parts);
  EXPECT_EQ(trace.result.dropped, 5U);
  ASSERT_EQ(trace.named("events dropped").size(), 1U);
  EXPECT_EQ(trace.named("events dropped")[0].message(4).number(4), 5U);
}

TEST(join, does_not_show_the_library_s_own_calls) {
  auto parts = two_nodes();
  for (auto& part : parts) part.functions[0] = "ham::detail::trace_control::ping()";
  const joined_trace trace(parts);
  EXPECT_EQ(trace.result.calls, 1U);
  for (const std::string& name : trace.slices()) EXPECT_EQ(name.find("trace_control"), std::string::npos) << name;
}

TEST(join, threads_of_one_process_can_be_several_nodes) {
  call_between calls;
  calls.add(1000, 7);
  auto part = part_of(0, calls.caller);
  part.threads.push_back({1, 12, "target", calls.callee});
  const joined_trace trace({part});
  EXPECT_EQ(trace.result.nodes, 2U);
  EXPECT_EQ(trace.result.arrows, 2U);
  std::set<std::uint64_t> pids;
  for (const proto_fields& one : trace.tracks)
    if (one.has(3)) pids.insert(one.message(3).number(1));
  EXPECT_EQ(pids.size(), 2U) << "viewers know processes by them";
}

TEST(join, shows_spans_transfers_and_sleep) {
  auto part =
      part_of(0, {ham::base::trace_event::make(span, 1'000'010, 1'000'020, 0, 9), event_of(slept, 30, 40, 0, 0, 0),
                  ham::base::trace_event::make(put, 1'000'050, 1'000'090, 1, 4096)});
  part.texts[9] = "assemble";
  const joined_trace trace({part});
  const auto slices = trace.slices();
  EXPECT_EQ(slices.count("assemble"), 1U);
  EXPECT_EQ(slices.count("sleep"), 1U);
  EXPECT_EQ(slices.count("put to node 1"), 1U);
}

TEST(join, of_nothing_is_empty) { EXPECT_EQ(joined_trace({}).result.nodes, 0U); }

}  // namespace
