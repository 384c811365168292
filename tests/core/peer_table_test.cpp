// Records of peers: found while their places change hands, and freed when nobody can use them any more.
#include "core/peer_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/counter_reading.hpp"
#include "base/own_counters.hpp"

namespace peer_table_test {

using namespace ham;
using detail::peer;
using detail::peer_hold;
using detail::peer_state;
using detail::peer_table;

constexpr node_t most = peer_table::most;

/// Another node takes the place of `node`, which is lost.
peer& replace(peer_table& table, node_t node) {
  table[node].state.store(peer_state::lost);
  peer* const made = table.claim(node + most);
  EXPECT_NE(made, nullptr);
  return *made;
}

TEST(peer_table, finds_who_is_there_and_nobody_else) {
  peer_table table(10);
  EXPECT_EQ(table.lock(3), nullptr);
  EXPECT_FALSE(table.hold(3));
  EXPECT_FALSE(table.has(3));
  EXPECT_EQ(table.place_of(3), peer_table::place::free);
  peer* const made = table.claim(3);
  for (const node_t absent : {0, 1, 2, 4, 3 + most, 3 - most, -1, most - 1}) {
    EXPECT_EQ(table.lock(absent), nullptr) << absent;
    EXPECT_FALSE(table.hold(absent)) << absent;
    EXPECT_FALSE(table.has(absent)) << absent;
  }
  peer* const locked = table.lock(3);
  ASSERT_EQ(locked, made);
  EXPECT_FALSE(made->sending.try_lock());
  locked->sending.unlock();
  EXPECT_EQ(&*table.hold(3), made);
  EXPECT_EQ(table.place_of(3 + most), peer_table::place::taken);
  made->state.store(peer_state::connecting);
  EXPECT_EQ(table.claim(3 + most), nullptr) << "node 3 lives";
  int seen = 0;
  table.for_each_held([&](const peer& one) { seen += one.node; });
  for (const peer* one : table) seen += one->node;
  EXPECT_EQ(seen, 6);
}

TEST(peer_table, who_reads_finds_the_record_that_is_there_and_keeps_it) {
  peer_table table(10);
  EXPECT_EQ(table.try_reading(3), nullptr) << "it has no place yet";
  peer* const made = table.claim(3);
  EXPECT_EQ(table.try_reading(3 + most), nullptr);
  EXPECT_FALSE(made->place.reading.held()) << "it has found nobody";
  ASSERT_EQ(table.try_reading(3), made);
  std::thread([&] { EXPECT_EQ(table.try_reading(3), nullptr) << "another thread reads"; }).join();
  EXPECT_FALSE(made->unused());
  replace(table, 3);
  EXPECT_EQ(table.retired(), 1U) << "the record that is read stays";
  made->place.reading.unlock();
  EXPECT_TRUE(made->unused());
}

TEST(peer_table, a_record_is_freed_at_once_when_nobody_uses_it) {
  peer_table table(1);
  table.claim(1)->count_calls(5);
  replace(table, 1);
  EXPECT_EQ(table.retired(), 0U);
  EXPECT_EQ(table.traffic().calls_sent, 5U) << "its traffic still counts";
}

TEST(peer_table, records_have_rows_of_the_counters_until_they_are_freed) {
  base::own_counters counters(0);
  peer_table table(1, &counters);
  const auto read = [&] { return base::parse_counters(base::read_counter_area(counters.file())).value(); };
  table.claim(1)->count_calls(5);
  ASSERT_EQ(read().peers.size(), 1U);
  EXPECT_EQ(read().peers[0].node, 1);
  EXPECT_EQ(read().peers[0].with.calls_sent, 5U);
  {
    const peer_hold held = table.hold(1);
    replace(table, 1);
    EXPECT_EQ(read().peers.size(), 2U) << "both are there";
  }
  table.claim(2);
  ASSERT_EQ(read().peers.size(), 2U) << "the record of node 1 is freed now";
  EXPECT_EQ(read().all.calls_sent, 5U);
  table.claim(3);
  ASSERT_EQ(read().peers.size(), 3U);
  EXPECT_EQ(read().peers[0].node, 3) << "in the row of the one that was freed";
}

TEST(peer_table, a_record_stays_while_it_is_held) {
  peer_table table(1);
  table.claim(1);
  peer_hold held = table.hold(1);
  replace(table, 1);
  EXPECT_EQ(table.retired(), 1U);
  EXPECT_EQ(held->node, 1);
  held->count_calls(1);
  EXPECT_EQ(table.traffic().calls_sent, 1U);
  held = peer_hold();
  table.claim(2);
  EXPECT_EQ(table.retired(), 0U);
  EXPECT_EQ(table.traffic().calls_sent, 1U);
}

TEST(peer_table, a_record_stays_while_a_call_of_it_runs_or_waits) {
  peer_table table(1);
  node_t node = 1;
  const auto stays_until = [&](auto begin, auto end) {
    peer& old = *table.claim(node);
    begin(old);
    replace(table, node);
    EXPECT_EQ(table.retired(), 1U);
    end(old);
    node += most;
    replace(table, node);
    EXPECT_EQ(table.retired(), 0U);
    node += most;
  };
  stays_until([](peer& one) { ++one.users; }, [](peer& one) { --one.users; });
  stays_until([](peer& one) { one.executor = &one; }, [](peer& one) { one.executor = nullptr; });
  stays_until([](peer& one) { ++one.waiting; }, [](peer& one) { --one.waiting; });
}

TEST(peer_table, a_place_does_not_change_hands_while_it_is_locked) {
  peer_table table(1);
  peer* const before = table.claim(1);
  ASSERT_EQ(table.lock(1), before);
  std::atomic<bool> claimed{false};
  std::thread claimer([&] {
    replace(table, 1);
    claimed = true;
  });
  for (int i = 0; i < 20 && before->state.load() != peer_state::lost; ++i) std::this_thread::yield();
  EXPECT_FALSE(claimed.load());
  EXPECT_EQ(before->node, 1);
  before->sending.unlock();
  claimer.join();
  EXPECT_EQ(table.lock(1), nullptr);
}

/// For the sanitizers: records come and go as fast as they can while other threads look for them in both ways.
TEST(peer_table, is_read_while_places_change_hands) {
  peer_table table(1);
  table.claim(1);
  std::atomic<node_t> newest{1};
  std::atomic<bool> stop{false};
  std::atomic<long> found{0};
  std::vector<std::thread> lookers;
  for (int thread = 0; thread < 3; ++thread) {
    lookers.emplace_back([&, thread] {
      while (!stop.load() || found.load() == 0) {
        const node_t node = newest.load();
        if (thread == 0) {
          if (peer* const who = table.lock(node)) {
            who->count_calls(1);
            who->bytes_sent.count(1);
            who->sending.unlock();
            ++found;
          }
        } else if (const peer_hold who = table.hold(node)) {
          if (who->node != node || who->calls_sent.load() == UINT64_MAX) std::abort();
          ++found;
        }
        if (thread == 2) static_cast<void>(table.place_of(node));
      }
    });
  }
  for (int i = 0; i < 3000; ++i) {
    newest = replace(table, newest.load()).node;
    if (i % 64 == 0) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& one : lookers) one.join();
  table.claim(2);
  EXPECT_EQ(table.retired(), 0U);
}

/// Nodes from `first` on that come, and are lost at `lost_at_ns`, one after the other.
void come_and_go(peer_table& table, node_t first, std::size_t count, std::int64_t lost_at_ns) {
  for (node_t node = first; node < first + static_cast<node_t>(count); ++node) {
    peer* const one = table.claim(node);
    ASSERT_NE(one, nullptr);
    one->lost_at_ns.store(lost_at_ns + node);
    one->state.store(peer_state::lost);
  }
}
std::size_t records(const peer_table& table) {
  std::size_t count = 0;
  for (const peer* one : table) count += one->node >= 0 ? 1 : 0;
  return count;
}
constexpr std::size_t kept = peer_table::max_lost + peer_table::claims_between_sweeps;

TEST(peer_table, forgets_nodes_that_were_lost_long_ago) {
  peer_table table(1);
  table.claim(0)->state.store(peer_state::ready);
  const std::int64_t long_ago = base::now_ns() - 3 * peer_table::rest_ns;
  come_and_go(table, 1, 1000, long_ago);
  EXPECT_LE(records(table), kept + 1);
  EXPECT_GE(records(table), peer_table::max_lost);
  EXPECT_EQ(table.retired(), 0U);
  EXPECT_TRUE(table.has(0)) << "it lives";
  EXPECT_TRUE(table.has(1000)) << "what has happened to it is told";
  EXPECT_FALSE(table.has(1));
  EXPECT_EQ(table.lock(1), nullptr);
  EXPECT_FALSE(table.hold(1));
  EXPECT_EQ(table.place_of(1), peer_table::place::free);
  EXPECT_EQ(table.claim(1 + most)->node, 1 + most);
}

TEST(peer_table, keeps_nodes_that_rest) {
  peer_table table(1);
  come_and_go(table, 1, 2 * kept, base::now_ns() + peer_table::rest_ns);
  EXPECT_EQ(records(table), 2 * kept);
}

TEST(peer_table, forgets_what_somebody_holds_later) {
  peer_table table(1);
  table.claim(1)->count_calls(5);
  peer_hold held = table.hold(1);
  table[1].state.store(peer_state::lost);  // first of all
  come_and_go(table, 2, 2 * kept, base::now_ns() - 3 * peer_table::rest_ns);
  EXPECT_FALSE(table.has(1));
  EXPECT_EQ(table.retired(), 1U);
  EXPECT_EQ(held->node, 1);
  held = peer_hold();
  table.claim(most - 1);
  EXPECT_EQ(table.retired(), 0U);
  EXPECT_EQ(table.traffic().calls_sent, 5U) << "its traffic still counts";
}

}  // namespace peer_table_test
