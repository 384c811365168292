// Results of a batch on their way back: in one message, or several if they are long.
#include "core/batch_reply.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/batch_records.hpp"
#include "core/peer_table.hpp"
#include "core/recorded_replies.hpp"
#include "ham/error.hpp"

namespace batch_reply_test {

using namespace ham;
using detail::wire_kind;

struct answer {
  std::uint32_t call;
  bool failed;
  std::string text;
  bool operator==(const answer&) const = default;
};

class batch_reply : public testing::Test {
 protected:
  void answer_with(detail::batch_reply& batch, std::uint32_t call, const std::string& text) {
    detail::reply_room out;
    batch.begin(call, text.size(), out);
    EXPECT_EQ(out.batch, &batch);
    std::memcpy(out.data, text.data(), text.size());
    batch.finish();
  }
  void fail(detail::batch_reply& batch, std::uint32_t call, const std::string& text) {
    batch.fail(call, {reinterpret_cast<const std::byte*>(text.data()), text.size()});
  }
  /// What the messages so far say.
  std::vector<answer> answers() {
    std::vector<answer> all;
    for (const auto& one : replies_.sent) {
      EXPECT_EQ(one.head.kind(), wire_kind::batch_reply);
      std::span<const std::byte> rest = one.bytes;
      while (!rest.empty()) {
        if (!detail::batch_result::complete(rest)) {
          ADD_FAILURE() << "cut off";
          break;
        }
        const detail::batch_result next(rest);
        all.push_back({next.call, next.failed, {reinterpret_cast<const char*>(next.bytes.data()), next.bytes.size()}});
        rest = rest.subspan(next.size());
      }
    }
    return all;
  }
  using answers_are = std::vector<answer>;

  detail::peer_table peers_{2};
  detail::peer& to_ = *peers_.claim(1);
  test::recorded_replies replies_;
};

TEST_F(batch_reply, is_sent_after_the_last_result) {
  auto& batch = *new detail::batch_reply(replies_, to_, 3);
  answer_with(batch, 7, "seven");
  answer_with(batch, 5, "");
  EXPECT_TRUE(replies_.sent.empty());
  fail(batch, 9, "why");
  EXPECT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(answers(), answers_are({{7, false, "seven"}, {5, false, ""}, {9, true, "why"}}));
}

TEST_F(batch_reply, a_result_that_was_given_up_leaves_no_trace) {
  auto& batch = *new detail::batch_reply(replies_, to_, 2);
  answer_with(batch, 1, "one");
  detail::reply_room out;
  batch.begin(2, 100, out);
  batch.cancel();
  fail(batch, 2, "no");
  EXPECT_EQ(answers(), answers_are({{1, false, "one"}, {2, true, "no"}}));
}

TEST_F(batch_reply, results_longer_than_a_message_go_in_several) {
  to_.max_message = 64;
  auto& batch = *new detail::batch_reply(replies_, to_, 3);
  for (std::uint32_t call = 0; call < 3; ++call) answer_with(batch, call, std::string(30, 'x'));
  EXPECT_EQ(replies_.sent.size(), 3U);
  for (const auto& one : replies_.sent) EXPECT_LE(one.bytes.size(), 64U);
  EXPECT_EQ(answers().size(), 3U);
}

TEST_F(batch_reply, one_result_has_its_limit) {
  auto& batch = *new detail::batch_reply(replies_, to_, 1);
  detail::reply_room out;
  EXPECT_THROW(batch.begin(1, detail::batch_reply::largest_result + 1, out), call_error);
  fail(batch, 1, {});
  EXPECT_EQ(answers(), answers_are({{1, true, ""}}));
}

TEST_F(batch_reply, threads_share_it) {
  constexpr std::uint32_t each = 200;
  auto& batch = *new detail::batch_reply(replies_, to_, 2 * each);
  batch.share();
  const auto work = [&](std::uint32_t first) {
    for (std::uint32_t i = 0; i < each; ++i) answer_with(batch, first + i, std::to_string(first + i));
  };
  std::thread other([&] { work(each); });
  work(0);
  other.join();
  const auto all = answers();
  EXPECT_EQ(all.size(), 2 * each);
  for (const answer& one : all) EXPECT_EQ(one.text, std::to_string(one.call));
}

}  // namespace batch_reply_test
