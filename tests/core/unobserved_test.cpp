// Errors that nobody has read: what is said of them, how often, and which are none.
#include "core/unobserved.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace unobserved_test {

using namespace ham;

std::exception_ptr made(const std::string& text) { return std::make_exception_ptr(std::runtime_error(text)); }

std::vector<unobserved_error>* told = nullptr;
void keep(const unobserved_error& what) { told->push_back(what); }

class unobserved : public testing::Test {
 protected:
  unobserved() { told = &reports_; }
  ~unobserved() override { on_unobserved_error(nullptr); }

  static std::string stderr_of(const std::function<void()>& what) {
    testing::internal::CaptureStderr();
    what();
    return testing::internal::GetCapturedStderr();
  }
  std::vector<unobserved_error> reports_;
};

TEST_F(unobserved, exceptions_are_described_in_one_line) {
  EXPECT_EQ(detail::describe(made("no more\npaper\x1b[31m")), "std::runtime_error: no more paper [31m");
  EXPECT_EQ(detail::describe(std::make_exception_ptr(42)), "int");
  const std::string text = detail::describe(made(std::string(100'000, 'x')));
  EXPECT_LT(text.size(), 2100U);
  EXPECT_TRUE(text.ends_with(" ..."));
}

TEST_F(unobserved, the_end_of_what_was_to_end_is_none) {
  node_failure::details details;
  const auto lost = [&] { return std::make_exception_ptr(node_failure("lost", details)); };
  EXPECT_FALSE(detail::is_orderly_end(lost(), false));
  EXPECT_TRUE(detail::is_orderly_end(lost(), true));
  details.orderly = true;
  EXPECT_TRUE(detail::is_orderly_end(lost(), false));
  EXPECT_TRUE(detail::is_orderly_end(std::make_exception_ptr(detail::runtime_ended("over")), false));
  EXPECT_FALSE(detail::is_orderly_end(made("a real one"), true));
}

TEST_F(unobserved, a_handler_gets_them_in_place_of_stderr) {
  EXPECT_EQ(on_unobserved_error(&keep), nullptr);
  EXPECT_EQ(stderr_of([] { detail::report_unread({made("kept"), operation::put, 3, 0, {}}); }), "");
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].node, 3);
  EXPECT_EQ(reports_[0].what, operation::put);
  EXPECT_EQ(detail::describe(reports_[0].error), "std::runtime_error: kept");
  EXPECT_EQ(on_unobserved_error(nullptr), &keep);
}

TEST_F(unobserved, what_a_handler_throws_or_drops_itself_does_not_come_back) {
  on_unobserved_error([](const unobserved_error&) { throw std::logic_error("must not"); });
  EXPECT_EQ(stderr_of([] { detail::report_unread({made("lost"), operation::get, 1, 0, {}}); }), "");
  on_unobserved_error([](const unobserved_error&) {
    detail::report_unread({made("inner"), operation::get, 1, 0, {}});
  });
  const std::string text = stderr_of([] { detail::report_unread({made("outer"), operation::get, 1, 0, {}}); });
  EXPECT_NE(text.find("a get from node 1: std::runtime_error: inner"), std::string::npos) << text;
  EXPECT_EQ(text.find("outer"), std::string::npos) << text;
}

TEST_F(unobserved, a_setting_silences_the_lines_but_not_the_handler) {
  ::setenv("HAM_UNOBSERVED_ERRORS", "ignore", 1);
  EXPECT_EQ(stderr_of([] { detail::report_unread({made("silent"), operation::copy, 2, 0, {}}); }), "");
  on_unobserved_error(&keep);
  detail::report_unread({made("told"), operation::copy, 2, 0, {}});
  ::unsetenv("HAM_UNOBSERVED_ERRORS");
  EXPECT_EQ(reports_.size(), 1U);
}

TEST_F(unobserved, thousands_are_few_lines_and_a_number) {
  const std::string text = stderr_of([] {
    for (int i = 0; i < 5000; ++i) detail::report_unread({made("again"), operation::call, 1, 0, "app::f(int)"});
  });
  const auto count = std::count(text.begin(), text.end(), '\n');
  EXPECT_GE(count, 1);
  EXPECT_LE(count, 30) << text;
  EXPECT_NE(text.find("the call of app::f(int) on node 1: std::runtime_error: again"), std::string::npos) << text;
  const std::uint64_t left = detail::take_unreported();
  EXPECT_GE(left + static_cast<std::uint64_t>(count), 4000U);
  EXPECT_EQ(detail::take_unreported(), 0U);
}

TEST_F(unobserved, operations_have_names) {
  EXPECT_STREQ(to_string(operation::put), "put");
  EXPECT_STREQ(to_string(operation::continuation), "continuation");
}

}  // namespace unobserved_test
