// emulated in HAM_NODES and HAM_TARGET.
#include <gtest/gtest.h>

#include "transport/emulated/settings.hpp"
#include "transport/groups.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::emulated {
namespace {

using test::group_of;
using test::refusal_of;

const medium& costs_of(const target_group& group) { return dynamic_cast<const group_medium&>(*group.settings).costs; }

TEST(emulated_factory, reads_the_costs_of_the_link) {
  const target_group plain = group_of("emulated", "emulated");
  EXPECT_EQ(plain.count, 1U);
  EXPECT_EQ(costs_of(plain).by, initiator::target);
  EXPECT_EQ(costs_of(plain).read_ns, medium{}.read_ns);
  const target_group group = group_of("emulated", "emulated:2/initiator=host/read=900@1+2");
  EXPECT_EQ(group.count, 2U);
  EXPECT_EQ(group.cores, (std::vector<int>{1, 2}));
  EXPECT_EQ(costs_of(group).by, initiator::host);
  EXPECT_EQ(costs_of(group).read_ns, 900);
  EXPECT_EQ(costs_of(group).write_ns, medium{}.write_ns) << "what is not named keeps its default";
}

TEST(emulated_factory, refuses_what_it_does_not_know) {
  EXPECT_NE(refusal_of("emulated", "emulated/reed=1").find("reed"), std::string::npos);
  EXPECT_NE(refusal_of("emulated", "emulated:1:2").find("left over"), std::string::npos);
  EXPECT_NE(refusal_of("emulated", "emulated:x").find("must follow the colon"), std::string::npos);
}

TEST(emulated_factory, takes_a_descriptor_from_its_host) {
  const starting_factory& by = *test::transport_named("emulated").as_starting();
  EXPECT_TRUE(by.starts_own_program());
  EXPECT_FALSE(by.starts_programs());
  EXPECT_FALSE(by.places_nodes());
  EXPECT_THROW(static_cast<void>(by.make_target("none")), config_error);
  EXPECT_EQ(by.make_called_target(0), nullptr);
}

}  // namespace
}  // namespace ham::transport::emulated
