// Sums over many participants: any number of them, messages in any order, messages that arrive while one is sent.
#include "all_reduce.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace {

using cg::all_reduce;

struct message {
  std::size_t from, to;
  std::uint32_t slot;
  all_reduce::values part;
};

/// Participants whose messages are delivered when told; in order between two of them, else in any.
class group {
 public:
  explicit group(std::size_t count) : queues_(count * count) {
    for (std::size_t i = 0; i < count; ++i) {
      members.push_back(std::make_unique<all_reduce>(
          i, count, [this, i](std::size_t to, std::uint32_t slot, const all_reduce::values& part) {
            if (while_sending) while_sending(to);
            queues_[i * members.size() + to].push_back({i, to, slot, part});
          }));
    }
  }
  /// Delivers the oldest message of one pair; false if there is none.
  bool deliver(std::size_t from, std::size_t to) {
    auto& queue = queues_[from * members.size() + to];
    if (queue.empty()) return false;
    const message next = queue.front();
    queue.pop_front();
    members[to]->take(next.slot, next.part);
    return true;
  }

  std::vector<std::unique_ptr<all_reduce>> members;
  std::function<void(std::size_t to)> while_sending;

 private:
  std::vector<std::deque<message>> queues_;
};

/// Each member begins its next sum as soon as one is done, whatever the others have come to.
void run_sums(std::size_t count, int sums) {
  std::mt19937 random(static_cast<unsigned>(count));
  group all(count);
  std::vector<int> begun(count, 0);
  const auto part = [&](std::size_t i) { return all_reduce::values{double((i + 1) * begun[i]), 1.0}; };
  std::size_t finished = 0;
  for (int round = 0; finished < count; ++round) {
    ASSERT_LT(round, 10'000'000) << "stuck";
    const std::size_t i = random() % count;
    if (all.members[i]->done() && begun[i] <= sums) {
      if (begun[i] > 0) {
        const double expected = double(begun[i]) * double(count * (count + 1) / 2);
        ASSERT_EQ(all.members[i]->sum(), (all_reduce::values{expected, double(count)})) << count << " " << i;
      }
      if (++begun[i] <= sums)
        all.members[i]->begin(part(i));
      else
        ++finished;
    }
    all.deliver(random() % count, random() % count);
  }
}

TEST(all_reduce, every_number_of_participants_comes_to_the_same_sum) {
  for (std::size_t count = 1; count <= 9; ++count) run_sums(count, 50);
  run_sums(64, 5);
}

TEST(all_reduce, all_have_the_same_bits) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  group all(13);
  for (const auto& one : all.members) one->begin({any(random), any(random)});
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t from = 0; from < 13; ++from) {
      for (std::size_t to = 0; to < 13; ++to) moved = all.deliver(from, to) || moved;
    }
  }
  for (const auto& one : all.members) {
    ASSERT_TRUE(one->done());
    EXPECT_EQ(one->sum(), all.members[0]->sum());
  }
}

TEST(all_reduce, a_message_that_arrives_while_one_is_sent_is_not_counted_in_it) {
  group all(4);
  for (std::size_t i = 1; i < 4; ++i) all.members[i]->begin({1.0, 0.0});
  all.members[0]->begin({1.0, 0.0});
  all.deliver(0, 1), all.deliver(1, 0), all.deliver(2, 3);
  // What node 0 sends in its second step is under way; before it leaves node 2, node 2 gets it.
  all.while_sending = [&](std::size_t to) {
    all.while_sending = nullptr;
    ASSERT_EQ(to, 0U);
    all.deliver(0, 2);
  };
  all.deliver(3, 2);
  for (int i = 0; i < 4; ++i) {
    for (std::size_t from = 0; from < 4; ++from) {
      for (std::size_t to = 0; to < 4; ++to) all.deliver(from, to);
    }
  }
  for (const auto& one : all.members) {
    ASSERT_TRUE(one->done());
    EXPECT_EQ(one->sum()[0], 4.0);
  }
}

}  // namespace
