// Two functions of one name in one program: never a silent pick.
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace {
int same_name(int value) { return value + 1; }
}  // namespace

namespace duplicates_test {

ham::offload::future<int> call_the_second(ham::node_t node);
int call_the_second_by_name(ham::node_t node);

class duplicates : public two_targets {};

TEST_F(duplicates, are_errors_at_the_caller) {
  const std::string text = message_of<call_error>([] { (void)offload::sync(1, fn<&same_name>, 0); });
  EXPECT_NE(text.find("same_name"), std::string::npos) << text;
  EXPECT_THROW((void)call_the_second(1), call_error);
  EXPECT_THROW((void)call_the_second(0), call_error);
  offload::batch calls(1);
  EXPECT_THROW((void)calls.add(fn<&same_name>, 0), call_error);
  EXPECT_EQ(offload::sync(1, [] { return 3; }), 3);
}

TEST_F(duplicates, names_tell_them_apart) {
  EXPECT_EQ(offload::sync(1, named<"duplicates.first">(fn<&same_name>), 0), 1);
  EXPECT_EQ(call_the_second_by_name(1), 2);
}

}  // namespace duplicates_test
