// What people read when a node has failed.
#include "core/node_loss.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace node_loss_test {

using namespace ham;

node_failure failure(node_failure::details details, const std::string& reason) {
  try {
    std::rethrow_exception(detail::make_node_failure(std::move(details), reason));
  } catch (const node_failure& why) {
    return why;
  }
}

TEST(node_loss, of_a_node_says_where_it_was_and_why) {
  EXPECT_STREQ(failure({3, "alpha", 42, "", 0, call_outcome::may_have_run}, "it was killed").what(),
               "node 3 failed: it was killed (host alpha, pid 42)");
  EXPECT_STREQ(failure({3, "alpha", -1, "", 0, call_outcome::may_have_run}, "").what(),
               "node 3 failed: lost (host alpha)");
}

TEST(node_loss, of_a_call_says_what_is_known_of_it) {
  const auto text = [](call_outcome outcome) {
    return std::string(failure({3, "alpha", 42, "work(int)", 7, outcome}, "it left").what());
  };
  const std::string begin = "node 3 failed: it left (host alpha, pid 42); the call of work(int) has ";
  EXPECT_EQ(text(call_outcome::not_run), begin + "not run");
  EXPECT_EQ(text(call_outcome::may_have_run), begin + "perhaps run");
  EXPECT_EQ(text(call_outcome::ran), begin + "run, but its result is lost");
}

TEST(node_loss, keeps_what_is_known) {
  const node_failure why = failure({3, "alpha", 42, "work(int)", 7, call_outcome::not_run}, "it left");
  EXPECT_EQ(why.node(), 3);
  EXPECT_EQ(why.host(), "alpha");
  EXPECT_EQ(why.pid(), 42);
  EXPECT_EQ(why.function(), "work(int)");
  EXPECT_EQ(why.call(), 7U);
  EXPECT_EQ(why.outcome(), call_outcome::not_run);
}

TEST(node_loss, ends_with_what_the_node_did_last) {
  try {
    std::rethrow_exception(detail::make_node_failure({3, "alpha", 42, "work()", 0, call_outcome::may_have_run},
                                                     "it was killed", "it was executing work() for 1.2 s"));
  } catch (const node_failure& why) {
    EXPECT_STREQ(why.what(),
                 "node 3 failed: it was killed (host alpha, pid 42); the call of work() has perhaps run; it was "
                 "executing work() for 1.2 s");
  }
}

}  // namespace node_loss_test
