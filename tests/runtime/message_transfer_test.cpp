// Transfers in messages: how they are cut, and which error counts.
#include "runtime/message_transfer.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "offload/loopback_job.hpp"

namespace ham::offload::detail {
namespace {

class message_transfer : public test::two_targets {
 protected:
  using piece = std::pair<std::size_t, std::size_t>;
  std::vector<piece> pieces_of(std::size_t bytes) {
    std::vector<piece> seen;
    in_pieces(
        at_, put_of(bytes),
        [&](std::size_t from, std::size_t count) {
          seen.emplace_back(from, count);
          return ready([] {});
        },
        piece_bytes)
        .get();
    return seen;
  }
  static one_sided put_of(std::size_t bytes) {
    return {one_sided::direction::put, nullptr, 1, {}, bytes, moved_by::anyone};
  }
  template <class Action>
  future<void> ready(Action action) {
    return ready_or_failed(at_, operation::put, 1, action);
  }
  engine& at_ = current();
};

TEST_F(message_transfer, goes_in_pieces_of_a_mebibyte) {
  EXPECT_EQ(pieces_of(1), (std::vector<piece>{{0, 1}}));
  EXPECT_EQ(pieces_of(piece_bytes), (std::vector<piece>{{0, piece_bytes}}));
  EXPECT_EQ(pieces_of(2 * piece_bytes + 1),
            (std::vector<piece>{{0, piece_bytes}, {piece_bytes, piece_bytes}, {2 * piece_bytes, 1}}));
}

TEST_F(message_transfer, fails_with_the_first_error_once_all_pieces_have_settled) {
  int begun = 0;
  auto all = in_pieces(
      at_, put_of(3 * piece_bytes),
      [&](std::size_t, std::size_t) {
        const int mine = begun++;
        return ready([&] {
          if (mine != 0) throw std::out_of_range("piece " + std::to_string(mine));
        });
      },
      piece_bytes);
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(test::message_of<std::out_of_range>([&] { all.get(); }), "piece 1");
}

TEST_F(message_transfer, what_cannot_begin_is_a_future_that_fails) {
  auto failed = begun_or_failed(at_, 1, []() -> future<void> { throw std::out_of_range("no"); });
  EXPECT_THROW(failed.get(), std::out_of_range);
  begun_or_failed(at_, 1, [&] { return ready([] {}); }).get();
}

TEST_F(message_transfer, says_once_that_memory_is_reached_by_messages) {
  testing::internal::CaptureStderr();
  warn_of_messages(1, std::size_t{1} << 20);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "too small to matter";
  testing::internal::CaptureStderr();
  warn_of_messages(1, std::size_t{8} << 20);
  warn_of_messages(1, std::size_t{8} << 20);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("8 MiB of node 1's memory"), std::string::npos) << text;
  EXPECT_EQ(text.find("8 MiB"), text.rfind("8 MiB")) << "once in a process";
}

}  // namespace
}  // namespace ham::offload::detail
