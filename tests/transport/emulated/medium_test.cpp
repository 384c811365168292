// What the settings of an emulated link may say.
#include "transport/emulated/medium.hpp"

#include <gtest/gtest.h>

#include "ham/error.hpp"

namespace ham::inline v1::transport::emulated {
namespace {

TEST(emulated_medium, settings) {
  const medium usual = parse_medium("");
  EXPECT_TRUE(usual.by == initiator::target && usual.read_ns == 1200 && usual.posted == 1);
  const medium other = parse_medium("initiator=host/posted=no/read=5/write=7/setup=9/store=11/to=0.5/from=2");
  EXPECT_TRUE(other.by == initiator::host && other.posted == 0 && other.read_ns == 5 && other.write_ns == 7);
  EXPECT_TRUE(other.setup_ns == 9 && other.store_ns == 11 && other.to_target_gib_s == 0.5 && other.to_host_gib_s == 2);
  for (const char* wrong : {"read", "read=", "read=-1", "read=1us", "read=9999999999", "to=0", "to=nan", "initiator=me",
                            "posted=maybe", "speed=1", "read=1//write=2", "/"}) {
    EXPECT_THROW(static_cast<void>(parse_medium(wrong)), config_error) << wrong;
  }
  medium insane = usual;
  EXPECT_TRUE(insane.sane());
  insane.read_ns = -1;
  EXPECT_FALSE(insane.sane());
  insane = usual;
  insane.store_ns = -1;
  EXPECT_FALSE(insane.sane());
}

}  // namespace
}  // namespace ham::transport::emulated
