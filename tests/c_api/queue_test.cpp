// Completion queues: order of ends, errors, waiting threads, waking, calls that outlive their queue.
#include "c_api/queue.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "c_api_job.hpp"

namespace c_api_test {

std::atomic<bool> may_answer{true};

int echoes(const void* argument, size_t size, ham_reply* reply, void*) {
  while (!may_answer) std::this_thread::yield();
  if (size == 0) return ham_fail(reply, "nothing to echo") + 1;
  return ham_set_result(reply, argument, size);
}
const bool echo_registered = ham_register("c_api_test.echoes", &echoes, nullptr) == HAM_OK;

class c_queues : public two_targets {
 protected:
  c_queues() {
    may_answer = true;
    EXPECT_EQ(ham_queue_create(&queue), HAM_OK);
  }
  ~c_queues() override { ham_queue_release(&queue); }

  void start(uint64_t id, const std::string& text, ham_node node = 1) {
    EXPECT_EQ(ham_call_queued(node, "c_api_test.echoes", text.data(), text.size(), -1, queue, id), HAM_OK)
        << ham_error_message();
  }

  ham_queue* queue = nullptr;
};

TEST_F(c_queues, give_the_end_of_each_call_with_its_id) {
  std::set<std::string> texts;
  for (uint64_t id = 0; id < 10; ++id) start(id, "text " + std::to_string(id), static_cast<ham_node>(1 + id % 2));
  for (int count = 0; count < 10; ++count) {
    ham_completion* end = nullptr;
    ASSERT_EQ(ham_queue_next(queue, -1, &end), HAM_OK) << ham_error_message();
    EXPECT_EQ(end->status, HAM_OK);
    const std::string text(static_cast<const char*>(end->result), end->bytes);
    EXPECT_EQ(text, "text " + std::to_string(end->id));
    texts.insert(text);
    ham_completion_release(&end);
    EXPECT_EQ(end, nullptr);
  }
  EXPECT_EQ(texts.size(), 10U);
  ham_completion* end = nullptr;
  static_cast<void>(ham_queue_next(queue, 0, nullptr));  // another error, whose text is not to stay
  EXPECT_EQ(ham_queue_next(queue, 0, &end), HAM_NOT_YET);
  EXPECT_STREQ(ham_error_message(), "no call of this queue has ended yet");
  EXPECT_EQ(ham_queue_next(queue, 20, &end), HAM_NOT_YET);
  EXPECT_EQ(end, nullptr);
}

TEST_F(c_queues, give_errors_with_their_text) {
  start(7, "");
  ham_completion* end = nullptr;
  ASSERT_EQ(ham_queue_next(queue, -1, &end), HAM_OK);
  EXPECT_EQ(end->id, 7U);
  EXPECT_EQ(end->status, HAM_ERROR_FUNCTION);
  EXPECT_EQ(end->function_code, HAM_ERROR_FUNCTION + 1);
  EXPECT_NE(std::strstr(static_cast<const char*>(end->result), "nothing to echo"), nullptr);
  EXPECT_EQ(end->bytes, std::strlen(static_cast<const char*>(end->result)));
  ham_completion_release(&end);
}

TEST_F(c_queues, get_nothing_of_a_call_that_cannot_be_made) {
  EXPECT_EQ(ham_call_queued(99, "c_api_test.echoes", "x", 1, -1, queue, 1), HAM_ERROR_CALL);
  EXPECT_EQ(ham_call_queued(1, nullptr, "x", 1, -1, queue, 1), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_call_queued(1, "c_api_test.echoes", "x", 1, -1, nullptr, 1), HAM_ERROR_ARGUMENT);
  ham_completion* end = nullptr;
  EXPECT_EQ(ham_queue_next(queue, 0, &end), HAM_NOT_YET);
}

TEST_F(c_queues, are_woken_before_and_while_they_wait) {
  ham_completion* end = nullptr;
  EXPECT_EQ(ham_queue_wake(queue), HAM_OK);
  EXPECT_EQ(ham_queue_next(queue, -1, &end), HAM_NOT_YET);
  EXPECT_EQ(ham_queue_next(queue, 0, &end), HAM_NOT_YET);
  ham::runtime* const of_test = &job;
  std::thread waits([&] {
    const auto scope = of_test->use();
    ham_completion* none = nullptr;
    EXPECT_EQ(ham_queue_next(queue, -1, &none), HAM_NOT_YET);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(ham_queue_wake(queue), HAM_OK);
  waits.join();
}

TEST_F(c_queues, wake_as_many_threads_as_they_are_told_to) {
  constexpr int count = 3;
  std::atomic<int> woken{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < count; ++i) {
    waiting.emplace_back([&] {
      const auto scope = job.use();
      ham_completion* none = nullptr;
      if (ham_queue_next(queue, 20'000, &none) == HAM_NOT_YET) ++woken;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) EXPECT_EQ(ham_queue_wake(queue), HAM_OK);
  for (std::thread& one : waiting) one.join();
  EXPECT_EQ(woken, count);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  ham_completion* end = nullptr;
  for (int i = 0; i < count; ++i) EXPECT_EQ(ham_queue_wake(queue), HAM_OK);
  for (int i = 0; i < count; ++i) EXPECT_EQ(ham_queue_next(queue, -1, &end), HAM_NOT_YET);
}

TEST_F(c_queues, wait_for_times_beyond_the_clock) {
  may_answer = false;
  start(5, "late");
  std::thread answers([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    may_answer = true;
  });
  ham_completion* end = nullptr;
  EXPECT_EQ(ham_queue_next(queue, INT64_MAX, &end), HAM_OK);
  answers.join();
  ham_completion_release(&end);
}

TEST_F(c_queues, leave_the_last_error_of_the_thread_alone) {
  start(1, "");
  EXPECT_EQ(ham_queue_wake(nullptr), HAM_ERROR_ARGUMENT);
  const char* const text = ham_error_message();
  const std::string before = text;
  ham_completion* end = nullptr;
  ASSERT_EQ(ham_queue_next(queue, -1, &end), HAM_OK);
  EXPECT_EQ(end->status, HAM_ERROR_FUNCTION);
  EXPECT_EQ(ham_error_message(), text) << "the pointer that the program has";
  EXPECT_EQ(text, before);
  EXPECT_EQ(ham_error_function_code(), 0);
  ham_completion_release(&end);
}

TEST_F(c_queues, may_go_before_their_calls_end) {
  may_answer = false;
  start(1, "late");
  ham_queue_release(&queue);
  EXPECT_EQ(queue, nullptr);
  may_answer = true;
  EXPECT_EQ(call(1, "c_api_test.echoes", "after"), "after");
}

TEST_F(c_queues, refuse_null_pointers) {
  ham_completion* end = nullptr;
  EXPECT_EQ(ham_queue_create(nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_queue_next(nullptr, 0, &end), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_queue_next(queue, 0, nullptr), HAM_ERROR_ARGUMENT);
  EXPECT_EQ(ham_queue_wake(nullptr), HAM_ERROR_ARGUMENT);
  ham_queue_release(nullptr);
  ham_completion_release(nullptr);
  ham_completion_release(&end);
}

}  // namespace c_api_test
