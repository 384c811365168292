// Calls that may be repeated, where nothing dies; repetitions are in tests/multiprocess.
#include "ham/offload/retry.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace retry_test {

std::string twice(const std::string& text) { return text + text; }
void nothing() {}
int refuse() { throw std::out_of_range("not this"); }
void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
int runs = 0;
int count_and_fail() {
  ++runs;
  throw std::runtime_error("its own error");
}

using retry = two_targets;

TEST_F(retry, gives_what_the_function_gives) {
  EXPECT_EQ(offload::sync(offload::retry(1, 3), idempotent(fn<&twice>), std::string("ab")), "abab");
  auto later = offload::async(offload::retry(2, 0), idempotent(fn<&nothing>));
  later.get();
  EXPECT_EQ(offload::sync(offload::retry(1, 1), idempotent([](int value) { return value + 1; }), 4), 5);
}

TEST_F(retry, errors_of_the_function_are_not_repeated) {
  EXPECT_THROW(offload::sync(offload::retry(1, 3), idempotent(fn<&refuse>)), std::out_of_range);
  runs = 0;
  EXPECT_THROW(offload::sync(offload::retry(1, 3), idempotent(fn<&count_and_fail>)), std::runtime_error);
  EXPECT_EQ(runs, 1);
}

TEST_F(retry, has_the_deadline_of_its_destination) {
  closed_gate gate;
  EXPECT_THROW(offload::sync(offload::retry(offload::within(1, 10ms), 3), idempotent(fn<&hold>)), deadline_exceeded);
  gate.open();
}

TEST_F(retry, a_number_that_is_no_node_is_refused_at_once) {
  EXPECT_THROW(static_cast<void>(offload::async(offload::retry(9, 3), idempotent(fn<&nothing>))), call_error);
}

TEST_F(retry, a_future_may_be_dropped) {
  static_cast<void>(offload::async(offload::retry(1, 3), idempotent(fn<&sleep_ms>), 5));
  auto detached = offload::async(offload::retry(1, 3), idempotent(fn<&sleep_ms>), 5);
  detached.detach();
  offload::sync(1, fn<&nothing>);
}

}  // namespace retry_test
