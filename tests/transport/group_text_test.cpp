// Counts and cores of a group, and what is said when they are not as they must be.
#include "transport/group_text.hpp"

#include <gtest/gtest.h>

#include "ham/error.hpp"

namespace ham::inline v1::transport {
namespace {

/// A group that is the second one of a list.
group_text second(std::string_view part) {
  return {"first,second", part, [] { return std::string("write it so"); }};
}

template <class Read>
std::string refusal_of_second(std::string_view part, Read read) {
  group_text text = second(part);
  try {
    read(text);
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

TEST(group_text, shows_list_group_and_advice) {
  EXPECT_EQ(refusal_of_second("second", [](const group_text& text) { text.refuse("no reason"); }),
            "HAM_NODES=\"first,second\": cannot use \"second\" (no reason) write it so");
}

TEST(group_text, counts) {
  group_text none = second("/rest");
  EXPECT_EQ(none.take_count(), 1U);
  EXPECT_EQ(none.take_count(7), 7U);
  EXPECT_EQ(none.take_times(), 1U);
  EXPECT_EQ(none.rest(), "/rest") << "nothing was taken";

  group_text some = second(":12@3");
  EXPECT_EQ(some.take_count(), 12U);
  EXPECT_EQ(some.rest(), "@3");

  group_text times = second("*4000");
  EXPECT_EQ(times.take_times(), max_targets);
  times.expect_end();

  const auto count = [](group_text& text) { static_cast<void>(text.take_count()); };
  const auto repeat = [](group_text& text) { static_cast<void>(text.take_times()); };
  EXPECT_NE(refusal_of_second(":", count).find("a number of targets must follow the colon"), std::string::npos);
  EXPECT_NE(refusal_of_second(":x", count).find("must follow the colon"), std::string::npos);
  EXPECT_NE(refusal_of_second("*", repeat).find("must follow the star"), std::string::npos);
  EXPECT_NE(refusal_of_second(":4001", count).find("at most 4000 targets"), std::string::npos);
}

TEST(group_text, settings_end_at_the_cores) {
  group_text some = second("/read=5/write=7@1+2");
  EXPECT_EQ(some.take_settings(), "read=5/write=7");
  EXPECT_EQ(some.take_cores(), (std::vector<int>{1, 2}));
  group_text none = second("@1");
  EXPECT_TRUE(none.take_settings().empty());
  EXPECT_EQ(none.rest(), "@1");
}

TEST(group_text, refuses_settings_that_say_nothing_or_are_said_twice) {
  const auto settings = [](group_text& text) { static_cast<void>(text.take_settings()); };
  EXPECT_EQ(refusal_of_second("/read=5/write=7/read=9@1", settings),
            "HAM_NODES=\"first,second\": cannot use \"/read=5/write=7/read=9@1\" (it sets \"read\" twice, as "
            "\"read=5\" and as \"read=9\": leave one of them away) write it so");
  EXPECT_NE(refusal_of_second("/read=5/read=5", settings).find("\"read\" twice"), std::string::npos);
  EXPECT_NE(refusal_of_second("/read/read=5", settings).find("\"read\" twice"), std::string::npos);
  EXPECT_EQ(refusal_of_second("/read=5/reads=5/rea=5", settings), "none");
  for (const char* empty : {"/", "/@1", "//read=5", "/read=5/", "/read=5/@1", "/read=5//write=7"})
    EXPECT_NE(refusal_of_second(empty, settings).find("no setting follows a \"/\": leave that away"), std::string::npos)
        << empty;
}

TEST(group_text, cores) {
  group_text some = second("@1+4-5");
  EXPECT_EQ(some.take_cores(), (std::vector<int>{1, 4, 5}));
  EXPECT_TRUE(some.rest().empty());
  group_text none = second("/rest");
  EXPECT_TRUE(none.take_cores().empty());
  none.expect_no_cores();
  EXPECT_EQ(none.rest(), "/rest");
  EXPECT_NE(refusal_of_second("@", [](group_text& text) { static_cast<void>(text.take_cores()); }), "none");
  EXPECT_NE(refusal_of_second("@1", [](const group_text& text) { text.expect_no_cores(); })
                .find("only targets that are started here can be given cores"),
            std::string::npos);
}

TEST(group_text, ends) {
  second("").expect_end();
  EXPECT_NE(refusal_of_second("x", [](const group_text& text) { text.expect_end(); }).find("\"x\" is left over"),
            std::string::npos);
}

}  // namespace
}  // namespace ham::transport
