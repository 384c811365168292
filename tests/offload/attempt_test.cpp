// Verbs whose errors are results; reasons of calls that were refused.
#include "ham/offload/attempt.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace attempt_test {

int echo(int value) { return value; }
std::size_t length(const std::string& text) { return text.size(); }
void refused_there(int reason) { throw call_error("refused", static_cast<call_error_reason>(reason)); }

class attempts : public two_targets {
 protected:
  template <class Verb>
  static error_info error_of(Verb verb) {
    auto tried = offload::attempt(verb);
    EXPECT_FALSE(tried.has_value());
    return describe_error(tried.error());
  }
};

TEST_F(attempts, give_values) {
  EXPECT_EQ(offload::attempt([] { return offload::async(1, fn<&echo>, 4); }).get(), 4);
  EXPECT_EQ(offload::attempt([] { return offload::sync(1, fn<&echo>, 5); }).get(), 5);
  auto room = offload::attempt([] { return offload::allocate<int>(1, 10); }).get();
  EXPECT_TRUE(offload::attempt([&] { offload::free(room); }).has_value());
}

TEST_F(attempts, give_errors) {
  EXPECT_EQ(error_of([] { return offload::async(7, fn<&echo>, 4); }).reason, call_error_reason::no_such_node);
  EXPECT_EQ(error_of([] { return offload::sync(7, fn<&echo>, 4); }).kind, error_kind::call);
  EXPECT_EQ(error_of([] { offload::free(offload::buffer_ptr<int>(nullptr, 1)); }).kind, error_kind::buffer);
  EXPECT_EQ(error_of([] { throw 1; }).kind, error_kind::foreign);
}

TEST(attempt_without_a_runtime, is_an_invalid_future) {
  auto none = offload::attempt([] { return offload::async(1, fn<&echo>, 4); });
  EXPECT_FALSE(none.valid());
  EXPECT_FALSE(none.has_value());
  EXPECT_NE(none.error(), nullptr);
}

TEST_F(attempts, reasons_travel_with_the_error) {
  for (int reason = 0; reason <= static_cast<int>(call_error_reason::wrong_size); ++reason) {
    auto refused = offload::async(1, fn<&refused_there>, reason);
    const error_info why = describe_error(refused.error());
    EXPECT_EQ(why.kind, error_kind::call);
    EXPECT_EQ(static_cast<int>(why.reason), reason);
  }
}

TEST_F(attempts, closed_contexts_have_their_reason) {
  offload::context ctx(1);
  const offload::destination copied = ctx;
  ctx.close();
  EXPECT_EQ(error_of([&] { return offload::async(ctx, fn<&echo>, 1); }).reason, call_error_reason::no_context);
  EXPECT_EQ(error_of([&] { return offload::async(copied, fn<&echo>, 1); }).reason, call_error_reason::no_context);
}

TEST(attempts_of_long_messages, have_their_reason) {
  runtime_options options = loopback(1);
  options.max_message = std::size_t{2} << 20;
  runtime job(options);
  auto tried = offload::attempt([] { return offload::async(1, fn<&length>, std::string(std::size_t{80} << 20, 'x')); });
  const error_info why = describe_error(tried.error());
  EXPECT_EQ(why.reason, call_error_reason::too_long) << why.message;
}

}  // namespace attempt_test
