// Transfers with a stop token: whole ones arrive, stopped ones say what they have done.
#include "runtime/stoppable_transfer.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "offload/loopback_job.hpp"

namespace {

using namespace ham;
using namespace ham::test;

constexpr std::size_t several_parts = 700'001;  // numbers of four bytes

std::atomic<bool> gate{false};
std::atomic<int> begun{0};
std::stop_source source;

void block_node() {
  ++begun;
  while (!gate) std::this_thread::yield();
}
void stop_here() { source.request_stop(); }

std::vector<int> numbers(std::size_t count) {
  std::vector<int> made(count);
  std::iota(made.begin(), made.end(), 1);
  return made;
}

template <class Transfer>
std::optional<call_outcome> outcome(Transfer transfer) {
  try {
    transfer();
  } catch (const operation_cancelled& why) {
    return why.outcome();
  }
  return std::nullopt;
}

class stoppable_transfers : public either_way {
 protected:
  stoppable_transfers() {
    gate = false;
    begun = 0;
    source = std::stop_source();
  }
  ~stoppable_transfers() override { gate = true; }
  static offload::stoppable_destination on(node_t node) { return offload::stoppable(node, source.get_token()); }
};
INSTANTIATE_TEST_SUITE_P(both, stoppable_transfers, testing::Bool(), name_of_way);

TEST_P(stoppable_transfers, that_are_not_stopped_move_all) {
  const std::vector<int> here = numbers(several_parts);
  const offload::buffer<int> there(on(1), here.size());
  const offload::buffer<int> elsewhere(2, here.size());
  std::vector<int> back(here.size());
  offload::put(on(1), here.data(), there.ptr(), here.size()).get();
  offload::copy(on(2), there.ptr(), elsewhere.ptr(), here.size()).get();
  offload::get(on(2), elsewhere.ptr(), back.data(), back.size()).get();
  EXPECT_EQ(back, here);
  std::fill(back.begin(), back.end(), 0);
  offload::put_sync(on(1), back, there);
  offload::put_sync(offload::within(1, 1h, source.get_token()), here, there);
  offload::get_sync(on(1), there, back);
  EXPECT_EQ(back, here);
  offload::put(on(1), here.data(), there.ptr(), 0).get();
  EXPECT_EQ(offload::sync(
                1, [](const std::vector<int>& all) { return all.size(); }, here),
            here.size());
}

TEST_P(stoppable_transfers, of_blocks_move_all_rows) {
  constexpr std::size_t rows = 700;
  constexpr std::size_t columns = 500;
  const std::vector<int> here = numbers(rows * columns);
  const offload::buffer<int> there(1, rows * (columns + 3));
  const offload::buffer<int> elsewhere(2, rows * columns);
  std::vector<int> back(here.size());
  offload::put(on(1), here.data(), there.ptr(), offload::block{rows, columns, 0, columns + 3}).get();
  offload::copy(on(1), there.ptr(), elsewhere.ptr(), offload::block{rows, columns, columns + 3, 0}).get();
  offload::get_sync(on(2), elsewhere.ptr(), back.data(), offload::block{rows, columns, 0, 0});
  EXPECT_EQ(back, here);
}

TEST_P(stoppable_transfers, within_a_node_may_overlap) {
  const std::vector<int> here = numbers(several_parts);
  const offload::buffer<int> there(1, here.size() + 1);
  offload::put(here.data(), there.ptr(), here.size()).get();
  offload::copy(on(1), there.ptr(), there.ptr() + 1, here.size()).get();
  std::vector<int> back(here.size());
  offload::get(there.ptr() + 1, back.data(), back.size()).get();
  EXPECT_EQ(back, here);
}

TEST_P(stoppable_transfers, that_were_stopped_before_move_nothing) {
  const offload::buffer<int> there(1, 2);
  const offload::buffer<int> elsewhere(2, 2);
  const std::vector<int> here{1, 2};
  std::vector<int> back{3, 4};
  offload::put(here, there).get();
  source.request_stop();
  const offload::block rows{2, 1, 0, 0};
  constexpr auto not_run = call_outcome::not_run;
  EXPECT_EQ(outcome([&] { offload::put(on(1), back.data(), there.ptr(), 2).get(); }), not_run);
  EXPECT_EQ(outcome([&] { offload::put_sync(on(1), back, there); }), not_run);
  EXPECT_EQ(outcome([&] { offload::put(on(1), back.data(), there.ptr(), rows).get(); }), not_run);
  EXPECT_EQ(outcome([&] { offload::get(on(1), there, back).get(); }), not_run);
  EXPECT_EQ(outcome([&] { offload::get(on(1), there.ptr(), back.data(), rows).get(); }), not_run);
  EXPECT_EQ(outcome([&] { offload::copy(on(1), there, elsewhere).get(); }), not_run);
  EXPECT_EQ(outcome([&] { offload::copy_sync(on(1), there.ptr(), elsewhere.ptr(), rows); }), not_run);
  EXPECT_EQ(back, (std::vector<int>{3, 4}));
  offload::get(there, back).get();
  EXPECT_EQ(back, here);
}

TEST_P(stoppable_transfers, that_fail_say_why) {
  const offload::buffer<int> there(1, several_parts - 1);
  const std::vector<int> here = numbers(several_parts);
  const std::vector<int> before(there.size());
  offload::put(before, there).get();
  EXPECT_THROW(offload::put(on(1), here.data(), there.ptr(), here.size()).get(), buffer_error);
  std::vector<int> back(there.size(), 1);
  offload::get(there, back).get();
  EXPECT_EQ(back, before) << "nothing of it has moved";
  EXPECT_THROW(static_cast<void>(offload::put(on(2), here.data(), there.ptr(), 1)), buffer_error) << "another node";
}

/// Over loopback without one-sided access, where each part is a message to the node.
class stoppable_messages : public testing::Test {
 protected:
  stoppable_messages() {
    gate = false;
    begun = 0;
    source = std::stop_source();
  }
  ~stoppable_messages() override { gate = true; }
  static offload::stoppable_destination on(node_t node) { return offload::stoppable(node, source.get_token()); }
  static offload::future<void> occupy(node_t node) {
    auto busy = offload::async(node, fn<&block_node>);
    EXPECT_TRUE(eventually([] { return begun == 1; }));
    return busy;
  }
  runtime job{loopback(2, false)};
};

TEST_F(stoppable_messages, are_not_waited_for_any_more) {
  const offload::buffer<int> there(1, 1);
  const offload::buffer<int> elsewhere(2, 1);
  const int here = 5;
  int back = 6;
  auto busy = occupy(1);
  auto put = offload::put(on(1), &here, there.ptr(), 1);
  auto get = offload::get(on(1), there.ptr(), &back, 1);
  auto copy = offload::copy(on(1), there.ptr(), elsewhere.ptr(), 1);
  source.request_stop();
  EXPECT_EQ(outcome([&] { put.get(); }), call_outcome::may_have_run);
  EXPECT_EQ(outcome([&] { get.get(); }), call_outcome::may_have_run);
  EXPECT_EQ(outcome([&] { copy.get(); }), call_outcome::may_have_run);
  gate = true;
  busy.get();
  offload::sync(1, [] {});
  EXPECT_EQ(back, 6) << "the local memory is the caller's again";
}

TEST_F(stoppable_messages, are_no_more_behind_the_part_that_is_stopped) {
  const std::vector<int> zeros(several_parts);
  const offload::buffer<int> there(1, zeros.size());
  offload::put(zeros, there).get();
  const std::vector<int> here(several_parts, 7);
  auto moving = offload::put(on(1), here.data(), there.ptr(), here.size());
  auto stops = offload::async(1, fn<&stop_here>);  // behind the part that goes first; nobody makes progress meanwhile
  EXPECT_TRUE(eventually([] { return source.stop_requested(); }));
  EXPECT_EQ(outcome([&] { moving.get(); }), call_outcome::may_have_run);
  stops.get();
  std::vector<int> back(several_parts);
  offload::get(there, back).get();
  EXPECT_EQ(back.back(), 7) << "the last part goes first";
  EXPECT_NE(std::count(back.begin(), back.end(), 0), 0) << "on a busy machine the next one may have gone, too";
}

TEST_F(stoppable_messages, wait_for_room_until_they_are_stopped) {
  const std::vector<int> zeros(several_parts);
  const offload::buffer<int> there(1, zeros.size());
  offload::put(zeros, there).get();
  const std::vector<int> here(several_parts, 7);
  auto busy = occupy(1);
  while (auto one = offload::try_async(1, [] {})) one->detach();
  std::thread later([] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  });
  EXPECT_EQ(outcome([&] { offload::put(on(1), here.data(), there.ptr(), here.size()).get(); }), call_outcome::not_run);
  later.join();
  gate = true;
  busy.get();
  std::vector<int> back(several_parts, 1);
  offload::get(there, back).get();
  EXPECT_EQ(back, zeros);
}

TEST_F(stoppable_messages, of_blocks_wait_for_room_until_they_are_stopped) {
  constexpr std::size_t rows = 700;
  constexpr std::size_t columns = 500;
  const std::vector<int> here = numbers(rows * columns);
  const offload::buffer<int> there(1, rows * (columns + 3));
  auto busy = occupy(1);
  while (auto one = offload::try_async(1, [] {})) one->detach();
  std::thread later([] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  });
  const offload::block each{rows, columns, 0, columns + 3};
  EXPECT_EQ(outcome([&] { offload::put(on(1), here.data(), there.ptr(), each).get(); }), call_outcome::not_run);
  later.join();
  gate = true;
  busy.get();
}

TEST_F(stoppable_messages, have_a_deadline_as_well) {
  const offload::buffer<int> there(1, 1);
  const int here = 5;
  auto busy = occupy(1);
  EXPECT_THROW(offload::put(offload::within(1, 10ms, source.get_token()), &here, there.ptr(), 1).get(),
               deadline_exceeded);
  gate = true;
  busy.get();
}

}  // namespace
