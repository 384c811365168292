// Which process a supervised number stands for, and for whom.
#include "core/replacements.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "ham/offload/detail/handle_check.hpp"

namespace replacements_test {

using namespace ham;
using detail::replacements;
using phase = replacements::phase;

TEST(replacements, a_number_that_is_not_supervised_is_that_of_its_process) {
  const replacements table;
  EXPECT_FALSE(table.any());
  const replacements::state now = table.of(3);
  EXPECT_FALSE(now.supervised);
  EXPECT_EQ(now.process, 3);
  EXPECT_EQ(now.now, phase::up);
  EXPECT_EQ(table.number_of(3), 3);
}

TEST(replacements, a_number_leads_to_its_process_and_back) {
  replacements table;
  table.set(2, 2, phase::up);
  table.set(2, 2, phase::restarting);
  table.set(2, 7, phase::up);
  EXPECT_TRUE(table.any());
  EXPECT_EQ(table.of(2).process, 7);
  EXPECT_TRUE(table.of(2).supervised);
  EXPECT_FALSE(table.of(7).supervised) << "the process itself has its own number";
  EXPECT_EQ(table.number_of(7), 2);
  EXPECT_EQ(table.number_of(2), 2);
  table.set(2, 9, phase::up);
  EXPECT_EQ(table.number_of(7), 2) << "also of those that have gone";
  EXPECT_EQ(table.number_of(8), 8);
}

TEST(replacements, what_is_remembered_is_bounded) {
  replacements table;
  for (node_t process = 1; process <= 1000; ++process) table.set(1, process, phase::up);
  EXPECT_EQ(table.number_of(1000), 1);
  EXPECT_EQ(table.number_of(990), 1);
  EXPECT_EQ(table.number_of(500), 500);
}

TEST(replacements, know_whether_a_process_was_up) {
  replacements table;
  EXPECT_TRUE(table.of(1).was_up) << "it is not supervised";
  table.set(1, 1, phase::restarting);
  EXPECT_TRUE(table.of(1).was_up) << "the first one, which has died";
  table.set(1, 5, phase::restarting);
  EXPECT_FALSE(table.of(1).was_up);
  table.set(1, 5, phase::given_up);
  EXPECT_FALSE(table.of(1).was_up);
  table.set(1, 6, phase::up);
  table.set(1, 6, phase::restarting);
  table.set(1, 6, phase::given_up);
  EXPECT_TRUE(table.of(1).was_up);
  table.set(1, 7, phase::given_up);
  EXPECT_FALSE(table.of(1).was_up) << "as far as is known here";
}

TEST(replacements, at_the_end_of_a_job_numbers_stand_for_what_they_have_now) {
  replacements table;
  table.set(1, 1, phase::up);
  table.set(2, 6, phase::up);
  table.set(3, 7, phase::restarting);
  table.set(4, 4, phase::given_up, "it is worn out");
  {
    const replacements::rebuilding scope(table, 3, 7);
    table.end();
    EXPECT_TRUE(table.of(3).prepared) << "who prepares it goes on";
    EXPECT_TRUE(table.any());
  }
  EXPECT_FALSE(table.of(1).supervised);
  EXPECT_EQ(table.of(2).process, 6);
  EXPECT_EQ(table.of(2).now, phase::given_up) << "nobody waits for another one";
  EXPECT_EQ(table.of(2).reason, "") << "its process may be at work";
  EXPECT_EQ(table.of(3).now, phase::given_up);
  EXPECT_NE(table.of(3).reason.find("node 3 is not started again"), std::string::npos) << table.of(3).reason;
  EXPECT_EQ(table.of(4).reason, "it is worn out");
}

TEST(replacements, handles_may_be_old_once_a_number_has_another_process) {
  replacements table;
  table.set(1, 1, phase::up);
  table.set(1, 2, phase::up);
  EXPECT_TRUE(detail::handles_may_be_old.load());
}

TEST(replacements, a_process_that_is_being_started_is_known_by_who_asks_for_that) {
  replacements table;
  table.set(1, 1, phase::restarting);
  {
    const replacements::starting one(table, 4, 1);
    EXPECT_EQ(table.number_at_start(4), 1);
    EXPECT_EQ(table.number_of(4), 4) << "it cannot be called by that number yet";
    EXPECT_EQ(table.number_at_start(5), 5);
    EXPECT_EQ(table.of(1).process, 1);
  }
  EXPECT_EQ(table.number_at_start(4), 4) << "that has failed";
  {
    const replacements::starting one(table, 6, -1);
    EXPECT_EQ(table.number_at_start(6), 6);
  }
  table.set(1, 7, phase::up);
  EXPECT_EQ(table.number_at_start(7), 1);
}

TEST(replacements, every_change_has_a_version) {
  replacements table;
  const auto before = table.version();
  table.set(1, 1, phase::given_up, "it was tried often enough");
  EXPECT_GT(table.version(), before);
  EXPECT_EQ(table.of(1).reason, "it was tried often enough");
  const auto then = table.version();
  table.forget(1);
  EXPECT_GT(table.version(), then);
  EXPECT_FALSE(table.any());
}

TEST(replacements, the_list_of_one_node_becomes_that_of_another) {
  replacements host, other;
  host.set(1, 5, phase::up);
  host.set(2, 2, phase::restarting);
  other.set(3, 4, phase::up);
  other.take_over(host.all());
  EXPECT_EQ(other.all(), host.all());
  EXPECT_EQ(other.of(1).process, 5);
  EXPECT_EQ(other.of(2).now, phase::restarting);
  EXPECT_FALSE(other.of(3).supervised);
  other.take_over({});
  EXPECT_FALSE(other.any());
}

TEST(replacements, the_thread_that_rebuilds_reaches_what_others_wait_for) {
  replacements table;
  table.set(1, 6, phase::restarting);
  {
    const replacements::rebuilding scope(table, 1, 6);
    EXPECT_EQ(table.of(1).now, phase::up);
    EXPECT_EQ(table.of(1).process, 6);
    std::thread([&] { EXPECT_EQ(table.of(1).now, phase::restarting); }).join();
    const replacements another;
    EXPECT_FALSE(another.of(1).supervised);
  }
  EXPECT_EQ(table.of(1).now, phase::restarting);
}

TEST(replacements, what_waits_for_a_restart_is_due_when_that_is_decided) {
  detail::ready_queue due;
  replacements table(&due);
  detail::continuation first{[](detail::continuation*) {}}, second = first, third = first;
  EXPECT_FALSE(table.run_when_decided(1, &first)) << "it is not supervised";
  table.set(1, 1, phase::up);
  EXPECT_FALSE(table.run_when_decided(1, &first));
  table.set(1, 1, phase::restarting);
  table.set(2, 2, phase::restarting);
  const replacements::rebuilding scope(table, 1, 5);
  EXPECT_TRUE(table.run_when_decided(1, &first)) << "also for who rebuilds it";
  EXPECT_TRUE(table.run_when_decided(2, &second));
  table.set(1, 5, phase::restarting);
  EXPECT_TRUE(due.empty());
  table.set(1, 5, phase::up);
  EXPECT_EQ(due.pop(), &first);
  EXPECT_TRUE(due.empty());
  table.take_over({{1, 5, static_cast<std::uint8_t>(phase::up)}});
  EXPECT_EQ(due.pop(), &second) << "its number is supervised no more";
  table.set(1, 5, phase::restarting);
  EXPECT_TRUE(table.run_when_decided(1, &third));
  table.forget(1);
  EXPECT_EQ(due.pop(), &third);
}

TEST(replacements, what_waits_for_a_restart_is_due_at_a_time_at_the_latest) {
  detail::ready_queue due;
  replacements table(&due);
  detail::continuation patient{[](detail::continuation*) {}}, first = patient, second = patient;
  EXPECT_EQ(table.next_ns(), base::never_ns);
  table.set(1, 1, phase::restarting);
  table.set(2, 2, phase::restarting);
  EXPECT_TRUE(table.run_when_decided(1, &patient));
  EXPECT_TRUE(table.run_when_decided(1, &second, 200));
  EXPECT_TRUE(table.run_when_decided(2, &first, 100));
  EXPECT_EQ(table.next_ns(), 100);
  table.expire(99);
  EXPECT_TRUE(due.empty());
  table.expire(100);
  EXPECT_EQ(due.pop(), &first);
  EXPECT_TRUE(due.empty());
  EXPECT_EQ(table.next_ns(), 200);
  table.set(1, 5, phase::up);
  EXPECT_EQ(due.pop(), &patient);
  EXPECT_EQ(due.pop(), &second);
  table.expire(300);
  EXPECT_TRUE(due.empty());
  EXPECT_EQ(table.next_ns(), base::never_ns);
}

TEST(replacements, exact_numbers_are_no_numbers_of_nodes) {
  EXPECT_EQ(detail::without_exact_bit(5 | detail::exact_bit), 5);
  EXPECT_EQ(detail::without_exact_bit(5), 5);
  EXPECT_EQ(detail::without_exact_bit(-1), -1);
}

}  // namespace replacements_test
