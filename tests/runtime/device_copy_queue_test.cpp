// Copies that are under way until the test says that the device has done them.
#include "runtime/device_copy_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "ham/error.hpp"
#include "runtime/stepped_memory.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::size_t queued_bytes = 1000;

/// Notes in which order copies end, and how.
class queued_copy final : public device_access {
 public:
  struct log {
    std::mutex mutex;
    std::vector<std::pair<int, std::string>> ended;  // number, failure
    [[nodiscard]] std::vector<int> numbers() {
      std::lock_guard guard(mutex);
      std::vector<int> all;
      for (const auto& one : ended) all.push_back(one.first);
      return all;
    }
  };
  queued_copy(log& in, int number) : in_(in), number_(number) {}
  void finish(std::span<const std::byte>, const std::string& failure) noexcept override {
    std::lock_guard guard(in_.mutex);
    in_.ended.emplace_back(number_, failure);
  }

 private:
  log& in_;
  const int number_;
};

class device_copy_queue_of_two : public testing::Test {
 protected:
  void store(int number) {
    const std::vector<std::byte> bytes(queued_bytes, static_cast<std::byte>(number));
    queue->start_staged({memory.arena().address}, transport::device_copy::direction::to_device, bytes.data(),
                        bytes.size(), std::make_unique<queued_copy>(log, number));
  }
  [[nodiscard]] std::byte stored() const { return *reinterpret_cast<const std::byte*>(memory.arena().address); }
  void await_asked(int times) {
    while (asked < times) base::sleep_ns(50'000);
  }

  test::stepped_memory memory{2U << 20};  // two pieces
  queued_copy::log log;
  std::atomic<int> asked{0};
  std::unique_ptr<device_copy_queue> queue = std::make_unique<device_copy_queue>(memory, [this] { ++asked; });
};

TEST_F(device_copy_queue_of_two, ends_copies_in_the_order_in_which_they_have_begun) {
  store(1);
  queue->begin(std::make_unique<queued_copy>(log, 2),
               [&] { return memory.start_fill(memory.arena().address, std::byte{2}, queued_bytes); });
  store(3);
  EXPECT_EQ(memory.started(), 3U);
  EXPECT_TRUE(log.numbers().empty());
  memory.allow(2);
  queue->poll_until([&] { return log.numbers().size() == 2; });
  EXPECT_EQ(log.numbers(), (std::vector<int>{1, 2}));
  EXPECT_EQ(stored(), std::byte{2});
  memory.allow_all();
  queue->await_started();
  queue->poll_until([&] { return log.numbers().size() == 3; });
  EXPECT_EQ(log.numbers(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(stored(), std::byte{3});
}

TEST_F(device_copy_queue_of_two, waits_for_a_piece_of_the_staging_memory) {
  store(1);
  store(2);
  auto third = std::async(std::launch::async, [&] { store(3); });
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_EQ(memory.started(), 2U);
  queue->begin(std::make_unique<queued_copy>(log, 4),
               [&] { return memory.start_fill(memory.arena().address, std::byte{4}, 1); });
  EXPECT_EQ(memory.started(), 3U) << "a copy that needs no piece does not wait";
  memory.allow(1);
  third.get();
  EXPECT_EQ(memory.started(), 4U);
  memory.allow_all();
  queue->await_started();
}

TEST_F(device_copy_queue_of_two, tells_all_that_the_device_has_failed) {
  store(1);
  store(2);
  memory.fail();
  queue->poll_until([&] { return log.numbers().size() == 2; });
  for (const auto& [number, failure] : log.ended) EXPECT_EQ(failure, "an illegal address") << number;
  EXPECT_EQ(queue->failure(), "an illegal address");
}

TEST_F(device_copy_queue_of_two, calls_back_whether_copies_are_under_way_or_not) {
  queue->ask();
  await_asked(1);
  store(1);
  queue->ask();
  await_asked(2);
  EXPECT_TRUE(log.numbers().empty());
  memory.allow_all();
  queue->await_started();
}

TEST_F(device_copy_queue_of_two, ends_with_copies_under_way) {
  store(1);
  memory.allow_all();
  queue.reset();
  EXPECT_EQ(log.numbers(), std::vector<int>{1});
}

TEST(device_copy_queue, makes_pieces_of_its_staging_memory) {
  test::stepped_memory none(0);
  EXPECT_THROW(device_copy_queue(none, [] {}), config_error);
  test::stepped_memory little(1000);
  EXPECT_EQ(device_copy_queue(little, [] {}).piece_bytes(), 1000U);
  test::stepped_memory much(std::size_t{3} << 20);
  EXPECT_EQ(device_copy_queue(much, [] {}).piece_bytes(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace ham::detail
