#include "core/deadline_errors.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/callable.hpp"

namespace deadline_errors_test {

using namespace ham;

deadline_exceeded thrown(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const deadline_exceeded& what) {
    return what;
  }
}

const msg::handler_table& functions() {
  static_cast<void>(test::callable_key());
  return msg::handler_table::local();
}

TEST(deadline_errors, of_a_call_that_has_not_left_it_has_not_run) {
  const deadline_exceeded error =
      thrown(detail::missed_call(functions(), 3, msg::handler_registrar<test::callable>::entry()));
  EXPECT_EQ(error.outcome(), call_outcome::not_run);
  const std::string text = error.what();
  EXPECT_NE(text.find("callable"), std::string::npos) << text;
  EXPECT_NE(text.find("node 3"), std::string::npos) << text;
}

TEST(deadline_errors, of_a_call_that_has_left_it_may_still_run) {
  const deadline_exceeded error =
      thrown(detail::unanswered_call(functions(), 3, &msg::handler_registrar<test::callable>::entry()));
  EXPECT_EQ(error.outcome(), call_outcome::may_have_run);
  EXPECT_NE(std::string(error.what()).find("callable"), std::string::npos) << error.what();
}

TEST(deadline_errors, of_something_without_a_name) {
  const deadline_exceeded error = thrown(detail::unanswered_call(functions(), 3, nullptr));
  EXPECT_NE(std::string(error.what()).find("a call on node 3"), std::string::npos) << error.what();
}

}  // namespace deadline_errors_test
