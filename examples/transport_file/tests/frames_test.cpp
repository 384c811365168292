// Writer and reader of one file: room, blocks given back, and bytes that no honest peer writes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../file_endpoint.hpp"
#include "../unnamed_file.hpp"

namespace ham::inline v1::transport::file {
namespace {

class file_frames : public testing::Test {
 protected:
  void send(std::size_t size, std::uint32_t call = 0) {
    std::byte* const room = writer_.reserve(size);
    ASSERT_NE(room, nullptr);
    std::memset(room, 7, size);
    writer_.commit({1, call, 1});
  }
  bool take() {
    frame got;
    if (!reader_.poll(got)) return false;
    reader_.release();
    return true;
  }
  /// Bytes of the peer, at a position among the frames.
  void write_raw(const void* bytes, std::size_t size, std::uint64_t position = 0) {
    ASSERT_EQ(::pwrite(file_.get(), bytes, size, static_cast<off_t>(frames_begin + position)),
              static_cast<ssize_t>(size));
  }
  void expect_refused(const frame_header& header) {
    write_raw(&header, sizeof header);
    frame nothing;
    EXPECT_FALSE(reader_.empty());
    EXPECT_FALSE(reader_.poll(nothing));
    EXPECT_TRUE(reader_.malformed());
    EXPECT_FALSE(reader_.poll(nothing)) << "and nothing behind it is read";
    EXPECT_EQ(writer_.consumed(), 0U);
  }

  base::unique_fd file_ = make_unnamed_file(usual_folder);
  frame_writer writer_{file_.get(), INT64_MAX};
  frame_reader reader_{file_.get()};
};

TEST_F(file_frames, a_full_window_gets_room_when_frames_are_taken) {
  while (writer_.reserve(1000) != nullptr) send(1000);
  EXPECT_LE(writer_.sent(), window);
  EXPECT_EQ(writer_.consumed(), 0U);
  EXPECT_TRUE(take());
  EXPECT_EQ(writer_.consumed(), frame_bytes(1000));
  EXPECT_NE(writer_.reserve(1000), nullptr);
}

TEST_F(file_frames, blocks_are_given_back) {
  for (int i = 0; i < 1000; ++i) {
    send(max_payload);
    ASSERT_TRUE(take());
  }
  struct stat known {};
  ASSERT_EQ(::fstat(file_.get(), &known), 0);
  EXPECT_GT(known.st_size, 60'000'000);
  EXPECT_LT(known.st_blocks * 512, 4'000'000);
}

TEST_F(file_frames, a_frame_counts_as_consumed_before_it_is_looked_at) {
  send(10);
  send(10);
  frame got;
  ASSERT_TRUE(reader_.poll(got));
  EXPECT_EQ(writer_.consumed(), frame_bytes(10)) << "the second one was read ahead, and not looked at";
}

TEST_F(file_frames, half_a_frame_is_none) {
  const frame_header header{0, 1000, 1, 1, 1};
  write_raw(&header, sizeof header);
  EXPECT_FALSE(take());
  EXPECT_FALSE(reader_.malformed());
  EXPECT_TRUE(reader_.empty()) << "nobody polls for it without end";
  const std::byte last{};
  write_raw(&last, 1, frame_bytes(1000) - 1);
  EXPECT_FALSE(reader_.empty());
  EXPECT_TRUE(take());
}

TEST_F(file_frames, refuses_a_payload_that_is_too_long) { expect_refused({0, max_payload + 1, 1, 1, 1}); }
TEST_F(file_frames, refuses_a_frame_without_a_kind) { expect_refused({0, 8, 1, 1, 0}); }
TEST_F(file_frames, refuses_a_kind_of_more_than_seven_bits) { expect_refused({0, 8, 1, 1, 128}); }
TEST_F(file_frames, refuses_a_frame_of_another_position) { expect_refused({8, 8, 1, 1, 1}); }

TEST_F(file_frames, refuses_a_file_that_was_made_longer) {
  ASSERT_EQ(::ftruncate(file_.get(), off_t{1} << 40), 0);
  EXPECT_FALSE(take());
  EXPECT_TRUE(reader_.malformed());
}

TEST_F(file_frames, refuses_a_file_that_was_cut_short) {
  send(100);
  EXPECT_TRUE(take());
  ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
  EXPECT_FALSE(reader_.empty());
  EXPECT_FALSE(take());
  EXPECT_TRUE(reader_.malformed());
}

TEST_F(file_frames, a_peer_cannot_have_consumed_what_was_not_sent) {
  send(100);
  const std::uint64_t lie = writer_.sent() + 1;
  ASSERT_EQ(::pwrite(file_.get(), &lie, sizeof lie, consumed_at), static_cast<ssize_t>(sizeof lie));
  EXPECT_EQ(writer_.consumed(), writer_.sent()) << "all of it may have been executed";
  EXPECT_TRUE(writer_.malformed());
}

TEST_F(file_frames, a_limit_on_the_size_of_files_fails_the_connection_with_advice) {
  frame_writer limited(file_.get(), frames_begin + 100);
  ASSERT_NE(limited.reserve(200), nullptr);
  limited.commit({1, 1, 1});
  EXPECT_EQ(limited.error(), EFBIG);
  EXPECT_EQ(limited.sent(), 0U);
  EXPECT_EQ(limited.reserve(1), nullptr);
}

TEST_F(file_frames, an_endpoint_says_why_its_file_cannot_be_written) {
  base::unique_fd closed_to_writes(
      ::open(("/proc/self/fd/" + std::to_string(file_.get())).c_str(), O_RDONLY | O_CLOEXEC));
  file_endpoint endpoint(1, {std::move(closed_to_writes), make_unnamed_file(usual_folder)});
  ASSERT_NE(endpoint.reserve(8), nullptr);
  endpoint.commit({1, 1, 1});
  EXPECT_TRUE(endpoint.failed());
  EXPECT_NE(endpoint.failure().find("(Bad file descriptor); free space"), std::string::npos) << endpoint.failure();
}

}  // namespace
}  // namespace ham::transport::file
