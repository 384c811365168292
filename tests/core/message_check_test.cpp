// Calls and batches as peers may send them.
#include "core/message_check.hpp"

#include <gtest/gtest.h>

#include "core/callable.hpp"
#include "ham/error.hpp"

namespace message_check_test {

using namespace ham;
using detail::frame_header;
using test::batch_of;
using test::bytes;
using test::callable_key;

const msg::handler_table& functions() {
  static_cast<void>(callable_key());
  return msg::handler_table::local();
}
void check(frame_header head, const bytes& payload) { detail::check_message(functions(), head, payload); }

TEST(message_check, a_call_names_a_function) {
  EXPECT_NO_THROW(check(frame_header::call(callable_key(), 1, false), {}));
  EXPECT_NO_THROW(check(frame_header::call(callable_key(), detail::no_reply, false), bytes(100)));
  const auto size = static_cast<std::uint32_t>(functions().size());
  EXPECT_THROW(check(frame_header::call(size, 1, false), {}), protocol_error);
  EXPECT_THROW(check(frame_header::call(msg::invalid_key, 1, false), {}), protocol_error);
  EXPECT_EQ(detail::callable_entry(functions(), callable_key()).key(), callable_key());
  EXPECT_THROW(static_cast<void>(detail::callable_entry(functions(), size)), protocol_error);
}

TEST(message_check, a_call_in_a_context_has_its_number) {
  EXPECT_NO_THROW(check(frame_header::call(callable_key(), 1, true), bytes(4)));
  EXPECT_THROW(check(frame_header::call(callable_key(), 1, true), bytes(3)), protocol_error);
  EXPECT_THROW(check(frame_header::batch(1, true), {}), protocol_error);
}

TEST(message_check, a_batch_is_as_long_as_its_calls) {
  const bytes two = batch_of({1, 2});
  EXPECT_NO_THROW(check(frame_header::batch(2, false), two));
  EXPECT_THROW(check(frame_header::batch(1, false), two), protocol_error);
  EXPECT_THROW(check(frame_header::batch(3, false), two), protocol_error);
  EXPECT_THROW(check(frame_header::batch(0, false), {}), protocol_error);
  for (std::size_t left = 0; left < two.size(); ++left)
    EXPECT_THROW(check(frame_header::batch(2, false), bytes(two.begin(), two.begin() + left)), protocol_error) << left;
}

TEST(message_check, a_batch_in_a_context_begins_with_its_number) {
  bytes message(4);
  const bytes one = batch_of({1});
  message.insert(message.end(), one.begin(), one.end());
  EXPECT_NO_THROW(check(frame_header::batch(1, true), message));
  EXPECT_THROW(check(frame_header::batch(1, true), one), protocol_error);
}

TEST(message_check, each_call_of_a_batch_names_a_function_and_is_answered) {
  EXPECT_THROW(check(frame_header::batch(2, false), batch_of({1, detail::no_reply})), protocol_error);
  EXPECT_THROW(check(frame_header::batch(1, false), batch_of({1}, msg::invalid_key)), protocol_error);
}

}  // namespace message_check_test
