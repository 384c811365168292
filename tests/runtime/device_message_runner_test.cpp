// The thread that executes messages of a device, which are put into the queue by hand.
#include "runtime/device_message_runner.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "ham/device/print.hpp"
#include "offload/loopback_job.hpp"

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;

/// Its stdout is a pipe that the test reads, or does not.
class device_message_runner_job : public testing::Test {
 protected:
  device_message_runner_job() {
    std::fflush(stdout);
    before_ = ::dup(STDOUT_FILENO);
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    reads = ends[0];
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
  }
  ~device_message_runner_job() override {
    give_stdout_back();
    if (reads >= 0) ::close(reads);
  }
  void give_stdout_back() {
    if (before_ < 0) return;
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    before_ = -1;
  }

  void send(const char* text) {
    wire::print_writer line;
    line.put(text);
    wire::message_slot& slot = queue->messages[sent % wire::outbox_slots];
    const std::byte* const bytes = line.finish();
    std::memcpy(slot.arguments, bytes, line.size());
    slot.head.function = wire::print_function;
    slot.head.answer = wire::no_answer;
    slot.head.size = line.size();
    wire::release(slot.head.stamp, ++sent);
  }
  [[nodiscard]] bool is_full() const { return sent - wire::acquire(queue->consumed) == wire::outbox_slots; }

  runtime job{test::loopback(1)};
  std::unique_ptr<wire::outbox> queue = std::make_unique<wire::outbox>();
  std::uint64_t sent = 0;
  int reads = -1;

 private:
  int before_ = -1;
};

TEST_F(device_message_runner_job, executes_in_order_what_has_arrived) {
  auto runner = std::make_unique<device_message_runner>(current(), *queue);
  EXPECT_TRUE(runner->is_quiet());
  EXPECT_FALSE(runner->is_due(base::now_ns()));
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {
    const std::string text = std::to_string(i);
    EXPECT_TRUE(test::eventually([&] {
      if (runner->is_due(base::now_ns())) runner->run();
      return !is_full();
    }));
    send(text.c_str());
    expected += text + "\n";
  }
  runner.reset();
  give_stdout_back();
  std::string found(expected.size(), ' ');
  ASSERT_EQ(::read(reads, found.data(), found.size()), static_cast<ssize_t>(found.size()));
  EXPECT_EQ(found, expected) << "those that were there at its end, too";
}

/// As in targets, whose lines are assembled before they are written.
TEST_F(device_message_runner_job, prints_though_stdout_has_no_descriptor) {
  std::array<char, 64> assembled{};
  std::FILE* const own = std::exchange(stdout, ::fmemopen(assembled.data(), assembled.size(), "w"));
  auto runner = std::make_unique<device_message_runner>(current(), *queue);
  send("seen");
  runner->run();
  runner.reset();
  std::fclose(std::exchange(stdout, own));
  give_stdout_back();
  std::array<char, 5> found{};
  ASSERT_EQ(::fcntl(reads, F_SETFL, O_NONBLOCK), 0);
  ASSERT_EQ(::read(reads, found.data(), found.size()), static_cast<ssize_t>(found.size()));
  EXPECT_EQ(std::string(found.data(), found.size()), "seen\n");
}

TEST_F(device_message_runner_job, ends_though_nobody_reads_its_lines) {
  constexpr int page = 4'096;
  ASSERT_GE(::fcntl(STDOUT_FILENO, F_SETPIPE_SZ, page), page);
  auto runner = std::make_unique<device_message_runner>(current(), *queue);
  const std::string text(wire::max_text, 'x');
  const auto run_what_is_due = [&] {
    if (runner->is_due(base::now_ns())) runner->run();
  };
  // The pipe takes some 20 lines. Then the thread waits in one, and the places of the queue fill.
  const bool filled = test::eventually([&] {
    while (!is_full()) send(text.c_str());
    run_what_is_due();
    return sent > wire::outbox_slots + 10;
  });
  run_what_is_due();
  runner.reset();
  give_stdout_back();
  EXPECT_TRUE(filled);
  EXPECT_GT(sent, wire::acquire(queue->consumed)) << "what is behind the line is given up";
  ::close(reads);  // and the thread ends, which takes no signals
  reads = -1;
}

}  // namespace
}  // namespace ham::detail
