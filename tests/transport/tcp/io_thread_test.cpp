// The I/O thread: what is posted, watched and due happens on it, and it ends when it is told to.
#include "transport/tcp/io_thread.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <atomic>
#include <future>
#include <new>

#include "base/clock.hpp"
#include "base/event_fds.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

class counted_work final : public io_thread::work {
 public:
  [[nodiscard]] std::int64_t next_ns() const override { return next; }
  [[nodiscard]] bool turn() override {
    ++turns;
    if (throws.exchange(false)) throw std::bad_alloc();
    const std::int64_t due = next;
    if (due != base::never_ns && base::now_ns() >= due) {
      next = base::never_ns;
      was_due.set_value();
    }
    return !stop;
  }

  std::atomic<std::int64_t> next{base::never_ns};
  std::atomic<int> turns{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> throws{false};
  std::promise<void> was_due;
};

class event_source final : public io_thread::source {
 public:
  explicit event_source(int event) : event_(event) {}
  void on_events(std::uint32_t events) override {
    base::drain_event(event_);
    happened.set_value(events);
  }
  std::promise<std::uint32_t> happened;

 private:
  int event_;
};

class io_threads : public testing::Test {
 protected:
  void TearDown() override {
    work_.stop = true;
    io_.wake();
    io_.join();
  }
  counted_work work_;
  io_thread io_;
};

TEST_F(io_threads, runs_what_is_posted_in_order_on_itself) {
  std::vector<int> order;
  std::promise<std::thread::id> where;
  io_.post([&] { order.push_back(1); });
  io_.post([&] { order.push_back(2); });
  io_.post([&] { where.set_value(std::this_thread::get_id()); });
  io_.start(work_);
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(io_threads, hands_events_to_their_source) {
  const base::unique_fd event = base::make_event();
  event_source source(event.get());
  io_.watch(event.get(), EPOLLIN, &source);
  io_.start(work_);
  base::signal_event(event.get());
  EXPECT_EQ(source.happened.get_future().get(), static_cast<std::uint32_t>(EPOLLIN));
}

TEST_F(io_threads, wakes_when_something_is_due) {
  work_.next = base::now_ns() + 5'000'000;
  io_.start(work_);
  work_.was_due.get_future().get();
}

TEST_F(io_threads, ends_when_a_turn_says_so) {
  work_.stop = true;
  io_.start(work_);
  io_.join();
  EXPECT_EQ(work_.turns, 1);
  io_.join();
}

TEST_F(io_threads, goes_on_after_a_round_without_memory) {
  work_.throws = true;
  io_.start(work_);
  int tries = 0;
  std::promise<int> done;
  io_.post([&] {
    if (++tries == 1) throw std::bad_alloc();
  });
  io_.post([&] { done.set_value(tries); });
  EXPECT_EQ(done.get_future().get(), 2) << "what was posted is not dropped, and stays in order";
  work_.stop = true;  // what is posted comes first in a round: the turn that fails may be still to come
  io_.wake();
  io_.join();
  EXPECT_FALSE(work_.throws);
}

TEST(io_thread, need_not_be_started) {
  io_thread never;
  never.join();
}

}  // namespace
}  // namespace ham::transport::tcp
