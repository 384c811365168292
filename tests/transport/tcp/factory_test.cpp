// tcp in HAM_NODES.
#include <gtest/gtest.h>

#include "transport/groups.hpp"
#include "transport/network_factory.hpp"

namespace ham::inline v1::transport {
namespace {

using test::group_of;
using test::refusal_of;

TEST(tcp_factory, makes_objects_of_addresses) {
  const target_group group = group_of("tcp", "tcp://[fe80::7]:7000*2");
  EXPECT_EQ(group.count, 2U);
  const network_address& at = dynamic_cast<const network_group&>(*group.settings).at;
  EXPECT_EQ(at, (network_address{"fe80::7", 7000}));
  EXPECT_EQ(group_of("tcp", "tcp://node7:1").count, 1U);
  for (const char* wrong : {"tcp://", "tcp://host", "tcp://host:0", "tcp://fe80::7:1"}) {
    EXPECT_NE(refusal_of("tcp", wrong).find("an address like"), std::string::npos) << wrong;
  }
  EXPECT_NE(refusal_of("tcp", "tcp://host:1*").find("must follow the star"), std::string::npos);
  EXPECT_NE(refusal_of("tcp", "tcp://host:1*2@1").find("left over"), std::string::npos);
}

TEST(tcp_factory, is_for_invited_targets) {
  const factory& tcp = test::transport_named("tcp");
  EXPECT_EQ(tcp.as_network(), &tcp);
  EXPECT_EQ(tcp.as_starting(), nullptr);
  EXPECT_FALSE(tcp.safe_for_privileged()) << "it names machines";
  EXPECT_TRUE(tcp.trial().empty()) << "somebody has to wait there";
}

}  // namespace
}  // namespace ham::transport
