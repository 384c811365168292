// Pipes that several processes would write to.
#include "base/line_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/memory_file.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

/// A pipe, and what a reader gives of it.
class read_pipe {
 public:
  explicit read_pipe(line_reader& reader) : reader_(reader) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    writer = unique_fd(ends[1]);
    reader.add(unique_fd(ends[0]), [this](std::string_view text, line_end end) {
      const std::lock_guard guard(mutex_);
      lines_.emplace_back(text);
      ends_.push_back(end);
      changed_.notify_all();
    });
  }
  ~read_pipe() { reader_.stop(); }  // it calls this object
  read_pipe(const read_pipe&) = delete;
  read_pipe& operator=(const read_pipe&) = delete;
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(writer.get(), text.data(), text.size());
      ASSERT_GT(written, 0);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  [[nodiscard]] std::vector<std::string> lines() {
    const std::lock_guard guard(mutex_);
    return lines_;
  }
  [[nodiscard]] std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return lines_.size() >= count; });
    return lines_;
  }
  [[nodiscard]] line_end last_end() {
    const std::lock_guard guard(mutex_);
    return ends_.back();
  }

  unique_fd writer;

 private:
  line_reader& reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::vector<line_end> ends_;
};

using words = std::vector<std::string>;

TEST(line_reader, gives_lines_as_they_end) {
  line_reader reader(100);
  read_pipe one(reader);
  read_pipe other(reader);
  one.write("first\nsec");
  EXPECT_EQ(one.wait_for(1), (words{"first"}));
  other.write("beside\n");
  EXPECT_EQ(other.wait_for(1), (words{"beside"}));
  one.write("ond\n");
  EXPECT_EQ(one.wait_for(2), (words{"first", "second"}));
}

TEST(line_reader, gives_what_has_no_newline_when_nobody_can_write_any_more) {
  line_reader reader(100);
  read_pipe one(reader);
  one.write("a\nb");
  one.writer.reset();
  EXPECT_EQ(one.wait_for(2), (words{"a", "b"}));
  EXPECT_EQ(one.last_end(), line_end::none);
}

TEST(line_reader, calls_between_lines_when_all_that_was_there_is_delivered) {
  line_reader reader(1000);
  read_pipe one(reader);
  words expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string line = "line " + std::to_string(i);
    one.write(line + "\n");
    expected.push_back(line);
    if (i % 100 != 0) continue;
    words seen;
    std::thread::id on;
    reader.run([&] {
      seen = one.lines();
      on = std::this_thread::get_id();
      EXPECT_TRUE(reader.is_this_thread());
      reader.run([&] { expected.shrink_to_fit(); });  // at once, else it would wait for itself
    });
    ASSERT_EQ(seen, expected);
    ASSERT_NE(on, std::this_thread::get_id());
    ASSERT_FALSE(reader.is_this_thread());
  }
}

TEST(line_reader, without_pipes_has_no_thread) {
  line_reader reader(100);
  std::thread::id on;
  reader.run([&] { on = std::this_thread::get_id(); });
  EXPECT_EQ(on, std::this_thread::get_id());
}

TEST(line_reader, refuses_what_cannot_be_watched) {
  line_reader reader(100);
  const auto nobody = [](std::string_view, line_end) {};
  EXPECT_THROW(reader.add(make_memory_file("test", 1), nobody), config_error);
  read_pipe one(reader);
  one.write("goes on\n");
  EXPECT_EQ(one.wait_for(1), (words{"goes on"}));
}

TEST(line_reader, takes_pipes_that_are_added_while_it_reads) {
  line_reader reader(100);
  constexpr int count = 200;
  std::atomic<int> ended{0};
  read_pipe first(reader);
  for (int i = 0; i < count; ++i) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const unique_fd writer(ends[1]);
    ASSERT_EQ(::write(writer.get(), "x\n", 2), 2);  // there is something to read at once
    reader.add(unique_fd(ends[0]), [&](std::string_view text, line_end) { ended += text == "x" ? 1 : 100; });
    first.write("y\n");
  }
  EXPECT_EQ(first.wait_for(count).size(), std::size_t{count});
  reader.run([] {});
  EXPECT_EQ(ended, count);
  reader.stop();
}

TEST(line_reader, stops_where_others_still_hold_the_pipe) {
  words lines;
  {
    line_reader reader(100);
    read_pipe one(reader);
    one.write("a\nrest");
    reader.stop();
    lines = one.lines();
    EXPECT_EQ(one.last_end(), line_end::none);
    read_pipe late(reader);
    EXPECT_TRUE(late.lines().empty());
  }
  EXPECT_EQ(lines, (words{"a", "rest"}));
}

/// Who writes without end keeps neither run() nor stop() waiting.
TEST(line_reader, is_not_kept_by_who_writes_without_end) {
  line_reader reader(2000);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  unique_fd writer(ends[1]);
  std::atomic<std::size_t> received{0};
  reader.add(unique_fd(ends[0]), [&](std::string_view text, line_end) { received += text.size() + 1; });
  ::fcntl(writer.get(), F_SETFL, O_NONBLOCK);
  std::thread endless = start_thread([&] {  // which takes no SIGPIPE, when the reader has stopped
    const std::string line = std::string(1023, 'x') + '\n';
    while (::write(writer.get(), line.data(), line.size()) >= 0 || errno == EAGAIN) {
    }
  });
  while (received == 0) std::this_thread::yield();
  bool called = false;
  reader.run([&] { called = true; });
  EXPECT_TRUE(called);
  reader.stop();
  endless.join();
  EXPECT_EQ(received % 1024, 0U);
}

}  // namespace
}  // namespace ham::base
