// Codecs whose write does not write what their size said: refused by the sender, whoever that is.
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace codec_size_test {

/// Says that it takes `said` bytes and writes `written`.
struct liar {
  std::uint32_t said = 8;
  std::uint32_t written = 8;
};

}  // namespace codec_size_test

template <>
struct ham::codec<codec_size_test::liar> {
  static std::size_t size(const codec_size_test::liar& what) { return what.said; }
  static void write(msg::writer& to, const codec_size_test::liar& what) {
    for (std::uint32_t i = 0; i < what.written; ++i) to.number(static_cast<std::uint8_t>(i));
  }
  static codec_size_test::liar read(msg::reader& from) {
    codec_size_test::liar result;
    result.written = result.said = static_cast<std::uint32_t>(from.remaining());
    (void)from.view(from.remaining());
    return result;
  }
};

namespace codec_size_test {

constexpr liar honest{8, 8};
constexpr liar shorter{8, 5};
constexpr liar longer{8, 11};
constexpr liar much_longer{8, 1 << 20};
constexpr liar much_shorter{1 << 20, 8};

std::atomic<int> ran{0};
std::uint32_t take(const liar& what) {
  ++ran;
  return what.said;
}
liar give(std::uint32_t said, std::uint32_t written) { return {said, written}; }
int echo(int value) { return value; }

class codec_sizes : public two_targets {};

TEST_F(codec_sizes, of_arguments_are_checked_by_the_caller) {
  ran = 0;
  for (const liar& one : {shorter, longer, much_longer, much_shorter}) {
    EXPECT_THROW((void)offload::async(1, fn<&take>, one), call_error);
    EXPECT_THROW(offload::ping(1, fn<&take>, one), call_error);
    EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5) << "nothing was sent, and nothing was damaged";
  }
  EXPECT_EQ(ran.load(), 0);
  EXPECT_EQ(offload::sync(1, fn<&take>, honest), 8U);
}

TEST_F(codec_sizes, of_results_are_checked_by_the_target) {
  for (const liar& one : {shorter, longer, much_longer, much_shorter}) {
    const std::string text = message_of<call_error>([&] { offload::sync(1, fn<&give>, one.said, one.written); });
    EXPECT_NE(text.find("size"), std::string::npos) << text;
    EXPECT_EQ(offload::sync(1, fn<&echo>, 5), 5) << "the connection is as it was";
  }
  EXPECT_EQ(offload::sync(1, fn<&give>, 8U, 8U).said, 8U);
}

TEST_F(codec_sizes, in_batches) {
  offload::batch calls(1);
  auto before = calls.add(fn<&echo>, 1);
  EXPECT_THROW((void)calls.add(fn<&take>, shorter), call_error);
  EXPECT_THROW((void)calls.add(fn<&take>, longer), call_error);
  auto result = calls.add(fn<&give>, 8U, 5U);
  auto longer_result = calls.add(fn<&give>, 8U, 9U);
  auto after = calls.add(fn<&echo>, 2);
  calls.submit();
  EXPECT_EQ(before.get(), 1);
  EXPECT_THROW((void)result.get(), call_error);
  EXPECT_THROW((void)longer_result.get(), call_error);
  EXPECT_EQ(after.get(), 2);
}

}  // namespace codec_size_test
