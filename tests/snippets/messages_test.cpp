// The blocks of docs/messages.md, compiled and run.
#include <gtest/gtest.h>

#include <ham/msg/active_msg.hpp>
#include <ham/msg/active_msg_base.hpp>
#include <ham/msg/execution_policy.hpp>
#include <ham/offload.hpp>

#include <string>
#include <utility>
#include <vector>

class shape {
 public:
  explicit shape(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

#include "messages/codec.inc"

namespace messages_page {

using namespace ham;

#include "messages/aggregates.inc"

static int seen = 0;
#include "messages/policy.inc"

static int executed = 0;
namespace documented {
#include "messages/active_msg.inc"
}
class hello : public msg::active_msg<hello> {
 public:
  void operator()() { ++executed; }
};

static group older(group one) {
  for (person& member : one.members) member.height += 0.5;
  one.birthdays[1][2] = 31;
  return one;
}
static std::string name_of(const shape& one) { return one.name(); }
static int twice(int value) { return 2 * value; }
static int calls_seen() { return seen; }

TEST(messages_page, aggregates_cross) {
  const group there = offload::sync(1, fn<&older>, group{"choir", {{"Ada", 1.5}, {"Eve", 1.75}}, {}});
  ASSERT_EQ(there.members.size(), 2U);
  EXPECT_EQ(there.title + there.members[1].name, "choirEve");
  EXPECT_EQ(there.members[0].height, 2);
  EXPECT_EQ(there.birthdays[1][2], 31);
}

TEST(messages_page, a_codec_of_ones_own) { EXPECT_EQ(offload::sync(1, fn<&name_of>, shape("cube")), "cube"); }

TEST(messages_page, a_policy_of_ones_own) {
  const int before = offload::sync(1, fn<&calls_seen>);
  EXPECT_EQ(offload::sync(1, with_policy<counting_policy>(fn<&twice>), 21), 42);
  EXPECT_EQ(offload::sync(1, fn<&calls_seen>), before + 1);
}

TEST(messages_page, active_messages_alone) {
  documented::hello as_documented;
  ham::msg::active_msg_base::execute(&as_documented, sizeof as_documented);
  hello message;
  ham::msg::active_msg_base::execute(&message, sizeof message);
  EXPECT_EQ(executed, 1);
}

}  // namespace messages_page
