// Stopping calls from C: futures, queues, deadlines, and what the function learns.
#include "ham/offload/stop.hpp"

#include <atomic>
#include <string>
#include <thread>

#include "c_api_job.hpp"

namespace c_api_test {

std::atomic<bool> stoppable_runs{false}, may_return{true};
std::atomic<long> time_seen{0};

/// Runs until it is stopped, or, for an argument, until its time is over.
int runs_until_stopped(const void*, size_t size, ham_reply* reply, void*) {
  time_seen = ham_time_left();
  stoppable_runs = true;
  while (size == 0 ? ham_stop_requested() == 0 : ham_time_left() != 0) std::this_thread::yield();
  while (!may_return) std::this_thread::yield();
  return ham_set_result(reply, "stopped", 7);
}
const bool stop_test_registered = ham_register("c_api_test.until_stopped", &runs_until_stopped, nullptr) == HAM_OK;

class c_stops : public two_targets {
 protected:
  c_stops() {
    stoppable_runs = false;
    may_return = true;
    EXPECT_EQ(ham_queue_create(&queue), HAM_OK);
  }
  ~c_stops() override { ham_queue_release(&queue); }
  static void wait_until_it_runs() {
    while (!stoppable_runs) std::this_thread::yield();
  }
  ham_future* start(int64_t timeout_ms) {
    ham_future* future = nullptr;
    EXPECT_EQ(ham_call_async(1, "c_api_test.until_stopped", nullptr, 0, timeout_ms, &future), HAM_OK)
        << ham_error_message();
    return future;
  }

  ham_queue* queue = nullptr;
};

TEST_F(c_stops, reach_the_function_of_a_future) {
  ham_future* future = start(HAM_STOPPABLE);
  wait_until_it_runs();
  EXPECT_EQ(time_seen, -1);
  EXPECT_EQ(ham_wait(future, 0), HAM_NOT_YET);
  EXPECT_EQ(ham_request_stop(future), HAM_OK) << ham_error_message();
  char text[8] = "";
  EXPECT_EQ(ham_result(&future, text, sizeof text, nullptr), HAM_OK) << ham_error_message();
  EXPECT_STREQ(text, "stopped");
}

TEST_F(c_stops, take_calls_back_that_have_not_begun) {
  ham_future* first = start(HAM_STOPPABLE);
  wait_until_it_runs();
  ham_future* second = start(HAM_STOPPABLE);
  EXPECT_EQ(ham_request_stop(second), HAM_OK);
  EXPECT_EQ(ham_request_stop(first), HAM_OK);
  EXPECT_EQ(ham_result(&second, nullptr, 0, nullptr), HAM_ERROR_CANCELLED);
  EXPECT_EQ(ham_error_outcome(), HAM_NOT_RUN);
  EXPECT_STREQ(ham_status_text(HAM_ERROR_CANCELLED), "HAM_ERROR_CANCELLED");
  EXPECT_EQ(ham_result(&first, nullptr, 0, nullptr), HAM_ERROR_TRUNCATED);
  ham_release(&first);
}

TEST_F(c_stops, find_nothing_in_calls_that_have_ended) {
  ham_future* future = start(HAM_STOPPABLE);
  wait_until_it_runs();
  EXPECT_EQ(ham_request_stop(future), HAM_OK);
  EXPECT_EQ(ham_wait(future, -1), HAM_OK);
  EXPECT_EQ(ham_request_stop(future), HAM_NOT_YET);
  EXPECT_EQ(ham_request_stop(nullptr), HAM_ERROR_ARGUMENT);
  ham_release(&future);
}

TEST_F(c_stops, reach_the_function_when_its_time_is_over) {
  while (!stoppable_runs && !HasFailure()) {  // where the machine is busy, the time may be over before it begins
    may_return = false;
    ham_future* future = nullptr;
    ASSERT_EQ(ham_call_async(1, "c_api_test.until_stopped", "x", 1, 50, &future), HAM_OK);
    EXPECT_EQ(ham_result(&future, nullptr, 0, nullptr), HAM_ERROR_DEADLINE);
    may_return = true;
  }
  EXPECT_GE(time_seen, 0);
  EXPECT_LE(time_seen, 50);
}

TEST_F(c_stops, reach_the_function_of_a_queued_call) {
  ASSERT_EQ(ham_call_queued(1, "c_api_test.until_stopped", nullptr, 0, HAM_STOPPABLE, queue, 7), HAM_OK);
  wait_until_it_runs();
  EXPECT_EQ(ham_queue_stop(queue, 8), HAM_NOT_YET);
  EXPECT_EQ(ham_queue_stop(queue, 7), HAM_OK) << ham_error_message();
  ham_completion* end = nullptr;
  ASSERT_EQ(ham_queue_next(queue, -1, &end), HAM_OK);
  EXPECT_EQ(end->id, 7U);
  EXPECT_EQ(end->status, HAM_OK);
  ham_completion_release(&end);
  EXPECT_EQ(ham_queue_stop(queue, 7), HAM_NOT_YET);
  EXPECT_EQ(ham_queue_stop(nullptr, 7), HAM_ERROR_ARGUMENT);
}

TEST_F(c_stops, tell_queues_of_calls_that_never_began) {
  ASSERT_EQ(ham_call_queued(1, "c_api_test.until_stopped", nullptr, 0, HAM_STOPPABLE, queue, 1), HAM_OK);
  wait_until_it_runs();
  ASSERT_EQ(ham_call_queued(1, "c_api_test.until_stopped", nullptr, 0, HAM_STOPPABLE, queue, 2), HAM_OK);
  EXPECT_EQ(ham_queue_stop(queue, 2), HAM_OK);
  EXPECT_EQ(ham_queue_stop(queue, 1), HAM_OK);
  int cancelled = 0;
  for (int count = 0; count < 2; ++count) {
    ham_completion* end = nullptr;
    ASSERT_EQ(ham_queue_next(queue, -1, &end), HAM_OK);
    if (end->id == 2) {
      EXPECT_EQ(end->status, HAM_ERROR_CANCELLED);
      EXPECT_EQ(end->outcome, HAM_NOT_RUN);
      ++cancelled;
    }
    ham_completion_release(&end);
  }
  EXPECT_EQ(cancelled, 1);
}

TEST_F(c_stops, mean_nothing_outside_of_functions) {
  EXPECT_EQ(ham_stop_requested(), 0);
  EXPECT_EQ(ham_time_left(), -1);
}

}  // namespace c_api_test
