// Calls in every form and direction: nested, in contexts, in batches, with deadlines, lambdas under names.
#include <atomic>
#include <thread>
#include <vector>

#include "support.hpp"

namespace ham::inline v1::isa {

using namespace std::chrono_literals;

std::vector<std::int64_t> seen;  // on the target

void note(std::int64_t value) { seen.push_back(value); }
std::vector<std::int64_t> take_notes() { return std::exchange(seen, {}); }
int add(int a, int b) { return a + b; }
void sleep_ms(std::int64_t time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }
std::int64_t there_and_back(std::int64_t depth, node_t other) {
  if (depth == 0) return 0;
  const node_t here = offload::this_node();
  return depth + offload::sync(other, fn<&there_and_back>, depth - 1, here);
}
std::string isa_of(node_t node) { return offload::get_node_descriptor(node).isa(); }
int through(node_t other, int value) { return 1 + offload::sync(other, fn<&add>, value, value); }

double value_of(const sample& of) { return of.value; }
double half_of(long double number) { return static_cast<double>(number / 2); }

struct scaler {
  std::int64_t factor = 1;
  HAM_FIELDS(factor)
  std::int64_t operator()(std::int64_t value) const { return factor * value; }
};

namespace {

TEST(calls, nodes_know_each_other) {
  with_each_target([](node_t node) {
    EXPECT_EQ(offload::sync(node, fn<&offload::this_node>), node);
    EXPECT_EQ(offload::sync(node, fn<&offload::num_nodes>), offload::num_nodes());
    EXPECT_EQ(offload::sync(node, fn<&isa_of>, 0), offload::get_node_descriptor(0).isa());
    EXPECT_EQ(offload::sync(node, fn<&isa_of>, node), offload::get_node_descriptor(node).isa());
    const std::uint64_t executed = offload::sync(node, fn<&offload::stats>).calls_executed;
    EXPECT_GE(executed, 4U);
    EXPECT_LT(executed, 1U << 20U) << "bytes in the wrong order";
  });
}

TEST(calls, nested_both_ways) {
  with_each_target([](node_t node) {
    EXPECT_EQ(there_and_back(8, node), 36);
    EXPECT_EQ(offload::sync(node, fn<&there_and_back>, 9, 0), 45);
  });
}

TEST(calls, between_targets) {
  if (last_node() < 2) GTEST_SKIP() << "needs two targets";
  for (node_t from = 1; from <= last_node(); ++from) {
    for (node_t to = 1; to <= last_node(); ++to) {
      if (from == to) continue;
      EXPECT_EQ(offload::sync(from, fn<&through>, to, 20), 41) << from << " to " << to;
    }
  }
}

TEST(calls, callables) {
  with_each_target([](node_t node) {
    EXPECT_EQ(offload::sync(node, f2f(&add, 2, 3)), 5);
    EXPECT_EQ(offload::sync(node, scaler{-7}, 6), -42);
    EXPECT_EQ(offload::sync(node, named<"isa.add">([](int a, int b) { return a + b; }), 2, 3), 5);
    EXPECT_EQ(offload::sync(node, pooled(fn<&add>), 40, 2), 42);
  });
}

TEST(calls, objects_cross_where_they_lie_alike) {
  const auto refused = [](node_t node, const char* function, const auto& call) {
    try {
      call();
      ADD_FAILURE() << "it was called";
    } catch (const call_error& problem) {
      for (const std::string& part :
           {std::string(function), std::string("argument "), std::string("node 0"), "node " + std::to_string(node)}) {
        expect_in(problem.what(), part);
      }
    }
  };
  with_each_target([&](node_t node) {
    const auto object = [&] { EXPECT_EQ(offload::sync(node, fn<&value_of>, sample{0.1, 2, 3}), 0.1); };
    const auto number = [&] { EXPECT_EQ(offload::sync(node, fn<&half_of>, 3.0L), 1.5); };
    same_byte_order(0, node) ? object() : refused(node, "value_of", object);
    same_long_double(0, node) ? number() : refused(node, "half_of", number);
  });
}

TEST(calls, many_at_once_in_order) {
  with_each_target([](node_t node) {
    std::vector<offload::future<void>> all;
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < 3000; ++i) {
      all.push_back(offload::async(node, fn<&note>, i * 1'000'000'007));
      expected.push_back(i * 1'000'000'007);
    }
    for (auto& one : all) one.get();
    offload::ping(node, fn<&note>, -1);
    expected.push_back(-1);
    EXPECT_EQ(offload::sync(node, fn<&take_notes>), expected);
  });
}

TEST(calls, contexts) {
  with_each_target([](node_t node) {
    offload::context queue(node);
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < 100; ++i) {
      offload::async(queue, fn<&note>, i).detach();
      expected.push_back(i);
    }
    queue.drain();
    EXPECT_EQ(offload::sync(queue, fn<&take_notes>), expected);
    queue.close();
  });
}

TEST(calls, batches) {
  with_each_target([](node_t node) {
    offload::batch many(node);
    std::vector<offload::future<int>> sums;
    std::vector<offload::future<std::string>> texts;
    for (int i = 0; i < 500; ++i) {
      sums.push_back(many.add(fn<&add>, i, i));
      texts.push_back(many.add(fn<&isa_of>, node));
    }
    many.submit();
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(sums[static_cast<std::size_t>(i)].get(), 2 * i);
      EXPECT_EQ(texts[static_cast<std::size_t>(i)].get(), offload::get_node_descriptor(node).isa());
    }
    offload::context queue(node);
    offload::batch queued(queue);
    auto last = queued.add(fn<&add>, 1, 2);
    EXPECT_EQ(last.get(), 3);
  });
}

TEST(calls, deadlines) {
  with_each_target([](node_t node) {
    // A reply that has come before this thread runs again is taken: on a busy machine the function sleeps longer.
    bool late = false;
    for (int ms = 300; !late && ms < 60'000; ms *= 4) {
      try {
        offload::sync(offload::within(node, 30ms), fn<&sleep_ms>, ms);
      } catch (const deadline_exceeded&) {
        late = true;
      }
    }
    EXPECT_TRUE(late);
    EXPECT_EQ(offload::sync(offload::within(node, 60s), fn<&add>, 3, 4), 7) << "the late reply is dropped";
  });
}

}  // namespace
}  // namespace ham::isa
