// Transfers in messages: how they are cut, and which error counts.
#include "runtime/message_transfer.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "offload/loopback_job.hpp"

namespace ham::inline v1::offload::detail {
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
  static one_sided put_of(std::size_t bytes, std::int64_t deadline_ns = 0) {
    return {one_sided::direction::put, nullptr, 1, {4096, 7}, bytes, {moved_by::anyone, deadline_ns}};
  }
  template <class Action>
  future<void> ready(Action action) {
    return ready_or_failed(at_, operation::put, 1, action);
  }
  engine& at_ = current();
};

/// What is said of pieces of which each settles as one of these letters says: done, late, not sent, fails.
TEST_F(message_transfer, with_a_deadline_says_whether_anything_can_have_moved) {
  const auto outcome_of = [&](const std::string& ends) -> std::string {
    std::size_t begun = 0;
    auto all = in_pieces(
        at_, put_of(ends.size() * piece_bytes, base::now_ns() + 60'000'000'000),
        [&](std::size_t, std::size_t) {
          const char how = ends[begun++];
          return ready([how] {
            if (how == 'l') throw deadline_exceeded("late", call_outcome::may_have_run);
            if (how == 'n') throw deadline_exceeded("not sent", call_outcome::not_run);
            if (how == 'f') throw std::out_of_range("fails");
          });
        },
        piece_bytes);
    try {
      all.get();
    } catch (const deadline_exceeded& why) {
      return to_string(why.outcome());
    } catch (const std::out_of_range& why) {
      return why.what();
    }
    return "done";
  };
  EXPECT_EQ(outcome_of("ddd"), "done");
  EXPECT_EQ(outcome_of("nnn"), "not run");
  EXPECT_EQ(outcome_of("dnn"), "may have run");
  EXPECT_EQ(outcome_of("nln"), "may have run");
  EXPECT_EQ(outcome_of("nfn"), "fails");
}

TEST_F(message_transfer, nothing_is_sent_behind_the_deadline) {
  int begun = 0;
  auto all = in_pieces(
      at_, put_of(3 * piece_bytes, 1),
      [&](std::size_t, std::size_t) {
        ++begun;
        return ready([] {});
      },
      piece_bytes);
  EXPECT_EQ(begun, 0);
  try {
    all.get();
    FAIL() << "must throw";
  } catch (const deadline_exceeded& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
    EXPECT_NE(std::string(why.what()).find("nothing has moved"), std::string::npos) << why.what();
  }
}

/// Memory whose accesses take as long as the peer's process likes, or are begun and then out of hand.
class slow_memory final : public transport::remote_memory {
 public:
  slow_memory(bool waits, background_access how) : waits_(waits), how_(how) {}
  transport::access_result put(std::uint64_t, std::uint64_t, const std::byte*, std::size_t) override {
    return transport::access_result::done;
  }
  transport::access_result get(std::uint64_t, std::uint64_t, std::byte*, std::size_t) override {
    return transport::access_result::done;
  }
  [[nodiscard]] background_access background() const noexcept override { return how_; }
  [[nodiscard]] bool waits_for_peer() const noexcept override { return waits_; }

 private:
  const bool waits_;
  const background_access how_;
};

TEST_F(message_transfer, with_a_deadline_accesses_that_may_not_end_are_left_out) {
  using how = transport::remote_memory::background_access;
  for (const how by : {how::undivided, how::parts, how::started}) {
    for (const bool waits : {false, true}) {
      const slow_memory memory(waits, by);
      EXPECT_TRUE(ends_in_time(put_of(1), memory));
      EXPECT_EQ(ends_in_time(put_of(1, base::now_ns() + 1'000'000'000), memory), !waits && by != how::started);
    }
  }
}

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
