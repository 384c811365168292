// For which engine a thread works: its own before the process's, and what it was before at the end of a scope.
#include "core/thread_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace ham::inline v1::detail {
namespace {

/// Engines here are addresses only.
class thread_engines : public testing::Test {
 protected:
  thread_engines() { set_process_engine(nullptr); }
  ~thread_engines() override {
    set_thread_engine(thread_before_);
    set_process_engine(process_before_);
  }
  [[nodiscard]] engine* number(std::size_t index) { return reinterpret_cast<engine*>(&places_.at(index)); }

 private:
  std::array<char, 4> places_{};
  engine* const process_before_ = process_engine();
  engine* const thread_before_ = set_thread_engine(nullptr);
};

TEST_F(thread_engines, there_is_none_at_first) {
  EXPECT_EQ(current_or_null(), nullptr);
  EXPECT_EQ(process_engine(), nullptr);
}

TEST_F(thread_engines, that_of_the_process_is_for_threads_without_one) {
  set_process_engine(number(0));
  EXPECT_EQ(current_or_null(), number(0));
  EXPECT_EQ(set_thread_engine(number(1)), nullptr);
  EXPECT_EQ(current_or_null(), number(1));
  EXPECT_EQ(process_engine(), number(0));
  engine* elsewhere = nullptr;
  std::thread([&] { elsewhere = current_or_null(); }).join();
  EXPECT_EQ(elsewhere, number(0)) << "a thread's engine is that thread's only";
  EXPECT_EQ(set_thread_engine(nullptr), number(1));
  EXPECT_EQ(current_or_null(), number(0));
}

TEST_F(thread_engines, scopes_give_back_what_was_before) {
  set_process_engine(number(0));
  {
    const engine_scope outer(number(1));
    EXPECT_EQ(current_or_null(), number(1));
    {
      const engine_scope inner(number(2));
      EXPECT_EQ(current_or_null(), number(2));
    }
    EXPECT_EQ(current_or_null(), number(1));
    {
      const engine_scope none(nullptr);
      EXPECT_EQ(current_or_null(), number(0)) << "the process's";
    }
    try {
      const engine_scope left_by_throw(number(3));
      throw 1;
    } catch (int) {
    }
    EXPECT_EQ(current_or_null(), number(1));
  }
  EXPECT_EQ(this_thread.current, nullptr);
}

TEST_F(thread_engines, the_rest_of_the_state_is_the_threads_own) {
  this_thread.depth = 3;
  this_thread.only_receives = true;
  thread_state other;
  std::thread([&] { other = this_thread; }).join();
  this_thread.depth = 0;
  this_thread.only_receives = false;
  EXPECT_EQ(other.depth, 0U);
  EXPECT_FALSE(other.only_receives);
  EXPECT_EQ(other.context, nullptr);
  EXPECT_EQ(other.draining.of, nullptr);
}

}  // namespace
}  // namespace ham::detail
