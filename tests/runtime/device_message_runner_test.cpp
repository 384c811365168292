// The thread that executes messages of a device, which are put into the queue by hand.
#include "runtime/device_message_runner.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "ham/device/print.hpp"
#include "offload/loopback_job.hpp"
#include "transport/cuda/emulated_link.hpp"

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;

std::vector<wire::answer_place> called;  // by the thread of a runner
std::size_t longest = 0;
void note_call(const std::byte* /*arguments*/, std::size_t size, node_t /*node*/, const wire::answer_place& answer) {
  called.push_back(answer);
  longest = std::max(longest, size);
}
const wire::host_function noting(&note_call);

void ask(wire::outbox& of, std::uint64_t ticket, std::uint32_t slot) {
  const transport::cuda::emulated_link link({});
  wire::send_message(link, of, ticket, {noting.number(), 0, slot, 0}, nullptr);
}

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
    const std::byte* const bytes = line.finish();
    const transport::cuda::emulated_link link({});
    wire::send_message(link, *queue, sent++, {wire::print_function, 0, wire::no_answer, line.size()}, bytes);
  }
  [[nodiscard]] bool is_full() const { return sent - wire::acquire(queue->consumed) == wire::outbox_slots; }
  [[nodiscard]] std::span<wire::outbox> queues() const { return {queue.get(), 1}; }

  runtime job{test::loopback(1)};
  std::unique_ptr<wire::outbox> queue = std::make_unique<wire::outbox>();
  std::uint64_t sent = 0;
  int reads = -1;

 private:
  int before_ = -1;
};

TEST_F(device_message_runner_job, executes_in_order_what_has_arrived) {
  auto runner = std::make_unique<device_message_runner>(current(), queues());
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
  auto runner = std::make_unique<device_message_runner>(current(), queues());
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
  auto runner = std::make_unique<device_message_runner>(current(), queues());
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

TEST_F(device_message_runner_job, takes_those_of_several_blocks_in_turns) {
  called.clear();
  std::vector<wire::outbox> of_blocks(3);
  const std::span<wire::outbox> all(of_blocks);
  for (std::uint64_t i = 0; i < wire::outbox_slots; ++i) ask(all[0], i, wire::no_answer);
  ask(all[2], 0, wire::no_answer);
  auto runner = std::make_unique<device_message_runner>(current(), all);
  EXPECT_TRUE(runner->is_due(base::now_ns()));
  runner->run();
  runner.reset();
  ASSERT_EQ(called.size(), wire::outbox_slots + 1);
  EXPECT_EQ(called[1].block, 2U) << "not behind all of the first one";
  for (std::size_t i = 2; i < called.size(); ++i) EXPECT_EQ(called[i].ticket, i - 1) << "and those in their order";
  EXPECT_EQ(wire::acquire(all[0].consumed), wire::outbox_slots);
  EXPECT_EQ(wire::acquire(all[1].consumed), 0U);
}

/// The device has given the slot back, and asked again.
TEST_F(device_message_runner_job, answers_the_last_question_of_a_slot_and_once) {
  called.clear();
  constexpr std::uint32_t slot = 5;
  ask(*queue, 0, slot);
  ask(*queue, 1, slot);
  auto runner = std::make_unique<device_message_runner>(current(), queues());
  runner->run();
  ASSERT_TRUE(test::eventually([&] { return runner->is_quiet(); }));
  ASSERT_EQ(called.size(), 2U);
  const auto answer = [&](const wire::answer_place& to, wire::answer_status status) {
    runner->answer(to, status, nullptr, 0);
    return wire::acquire(queue->answers[slot].what);
  };
  EXPECT_EQ(answer(called[0], wire::answer_status::value), 0U) << "nobody waits for it";
  const std::uint64_t answered = wire::answer_word(1, wire::answer_status::value);
  EXPECT_EQ(answer(called[1], wire::answer_status::value), answered);
  EXPECT_EQ(answer(called[0], wire::answer_status::failed), answered);
  EXPECT_EQ(answer(called[1], wire::answer_status::failed), answered) << "once";
  EXPECT_EQ(answer({0, slot, 2}, wire::answer_status::failed), answered) << "was not asked";
  EXPECT_EQ(answer({1, slot, 1}, wire::answer_status::failed), answered) << "no such block";
  EXPECT_EQ(answer({0, wire::no_answer, 1}, wire::answer_status::failed), answered) << "no such slot";
}

/// A device that has failed may write anything.
TEST_F(device_message_runner_job, executes_what_makes_no_sense_without_harm) {
  called.clear();
  longest = 0;
  std::mt19937_64 random(29);
  auto runner = std::make_unique<device_message_runner>(current(), queues());
  constexpr std::uint64_t count = 5'000;
  for (std::uint64_t ticket = 0; ticket < count; ++ticket) {
    ASSERT_TRUE(test::eventually([&] {
      if (runner->is_due(base::now_ns())) runner->run();
      return ticket - wire::acquire(queue->consumed) < wire::outbox_slots;
    }));
    wire::message_slot& slot = queue->messages[ticket % wire::outbox_slots];
    for (std::byte& one : slot.arguments) one = static_cast<std::byte>(random());
    const std::uint32_t function = random() % 2 == 0 ? noting.number() : wire::unknown_function;
    constexpr std::uint64_t known = wire::print_function;  // the bits of the function
    const std::uint64_t what = random() >> (64 - wire::message_stamp_shift);
    wire::release(slot.what, wire::stamp_of_message(ticket) | (what & ~known) | (ticket % 100 == 0 ? known : function));
  }
  ASSERT_TRUE(test::eventually([&] {
    if (runner->is_due(base::now_ns())) runner->run();
    return runner->is_quiet();
  }));
  EXPECT_EQ(wire::acquire(queue->consumed), count);
  EXPECT_LE(longest, wire::max_message);
  for (const wire::answer_place& one : called) runner->answer(one, wire::answer_status::failed, nullptr, 0);
}

}  // namespace
}  // namespace ham::detail
