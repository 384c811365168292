// What people read of a node's last events.
#include "core/last_events.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "base/recorder_area.hpp"

namespace last_events_test {

using namespace ham;
using base::recorded_kind;
using base::recording;

constexpr std::int64_t ms = 1'000'000;

recording of_threads(std::vector<recording::thread> threads) {
  recording all;
  all.node = 1;
  all.names = {"assemble", "solve", ""};
  all.threads = std::move(threads);
  return all;
}

TEST(last_events, say_what_it_was_executing_and_what_came_before) {
  const recording all =
      of_threads({{7,
                   {{recorded_kind::executing, 0, 1, 5, 1'200 * ms}},
                   {{recorded_kind::sent, 2, 0, 4, 1'300 * ms}, {recorded_kind::executed, 0, 0, 3, 2'500 * ms}}}});
  EXPECT_EQ(detail::describe_last_events(all).text,
            "it was executing solve for 1.2 s; before that it called assemble on node 2 1.3 s ago, executed assemble "
            "2.5 s ago");
}

TEST(last_events, of_a_node_that_had_nothing_to_do) {
  const recording all = of_threads({{7, {}, {{recorded_kind::executed, 0, 1, 3, 2 * ms}}}});
  EXPECT_EQ(detail::describe_last_events(all).text,
            "it was executing nothing; before that it executed solve 2.0 ms ago");
  EXPECT_EQ(detail::describe_last_events(of_threads({})).text, "");
  EXPECT_FALSE(detail::describe_last_events(all).busy);
}

TEST(last_events, are_not_those_by_which_the_supervisor_asks) {
  recording all = of_threads({{7,
                               {},
                               {{recorded_kind::executed, 0, 2, 4, 1 * ms},
                                {recorded_kind::executed, 0, 1, 3, 2 * ms},
                                {recorded_kind::executed, 0, 2, 2, 3 * ms}}}});
  all.names[2] = "ham::detail::answer_supervisor()";
  EXPECT_EQ(detail::describe_last_events(all).text,
            "it was executing nothing; before that it executed solve 2.0 ms ago");
}

TEST(last_events, name_functions_that_are_no_handlers) {
  base::recording of;
  of.named = {"square", "<lambda>\x1b"};
  of.threads.push_back({1,
                        {{recorded_kind::executing, 0, base::first_named_function, 5, -1}},
                        {{recorded_kind::executed, 0, base::first_named_function + 1, 4, -1},
                         {recorded_kind::executed, 0, base::first_named_function + 2, 3, -1}}});
  const std::string text = detail::describe_last_events(of).text;
  EXPECT_NE(text.find("it was executing square"), std::string::npos) << text;
  EXPECT_NE(text.find("executed <lambda>"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("executed function 2147483650"), std::string::npos) << text;
}

TEST(last_events, of_several_threads_are_put_in_order) {
  const recording all =
      of_threads({{7,
                   {{recorded_kind::executing, 0, 0, 1, 9 * ms}, {recorded_kind::executing, 0, 1, 2, 8 * ms}},
                   {{recorded_kind::pinged, 3, 1, 0xffffffff, 50 * ms}}},
                  {8,
                   {{recorded_kind::executing, 0, 0, 3, 4 * ms}},
                   {{recorded_kind::sent_batch, 2, 0, 12, 40 * ms},
                    {recorded_kind::queued, 0, 1, 6, 60 * ms},
                    {recorded_kind::queued, 0, 1, 5, 70 * ms}}}});
  EXPECT_EQ(detail::describe_last_events(all).text,
            "it was executing assemble for 4.0 ms, and solve for 8.0 ms; before that it sent a batch of 12 calls to "
            "node 2 40.0 ms ago, pinged solve on node 3 50.0 ms ago, queued solve 60.0 ms ago");
}

TEST(last_events, name_what_has_no_name_by_its_number_and_no_time_that_is_not_known) {
  const recording all = of_threads({{7,
                                     {{recorded_kind::executing, 0, 2, 5, -1}},
                                     {{recorded_kind::executed, 0, 900, 5, -1}, {recorded_kind::sent, 1, 1, 5, 500}}}});
  EXPECT_EQ(detail::describe_last_events(all).text,
            "it was executing function 2; before that it called solve on node 1 0.5 us ago, executed function 900");
}

TEST(last_events, bring_nothing_to_a_terminal_but_text) {
  recording all = of_threads({{7, {{recorded_kind::executing, 0, 0, 5, ms}}, {}}});
  all.names[0] = "\x1b[2J" + std::string(5000, 'x');
  const std::string text = detail::describe_last_events(all).text;
  EXPECT_TRUE(detail::describe_last_events(all).busy);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.size(), 300U);
}

TEST(last_events, of_another_node_are_not_believed) {
  const auto area = std::make_unique<base::recorder_area>();
  area->head.magic = base::recorder_head::magic_value;
  area->head.node = 4;
  area->rings[0].past[0] = base::recorded_event::make(recorded_kind::sent, 1, 1, 0, 1);
  std::vector<std::byte> bytes(sizeof *area);
  std::memcpy(bytes.data(), area.get(), bytes.size());
  EXPECT_NE(detail::last_events_of(4, bytes).text, "");
  EXPECT_EQ(detail::last_events_of(5, bytes).text, "") << "its place was another node's";
  EXPECT_EQ(detail::last_events_of(4, {}).text, "");
}

}  // namespace last_events_test
