// Handlers that are there, and those of which something else says whether they are.
#include "ham/msg/presence.hpp"

#include <gtest/gtest.h>

#include "ham/msg/active_msg.hpp"
#include "ham/msg/manifest.hpp"

namespace {

using namespace ham::msg;

struct always_there : active_msg<always_there> {
  void operator()() {}
};
struct sometimes_there : active_msg<sometimes_there> {
  void operator()() {}
};
bool is_there = true;

TEST(Presence, IsAskedEachTime) {
  handler_table::refresh();
  EXPECT_TRUE(set_presence(sometimes_there::handler(), [] { return is_there; }));
  const auto host_only = [](const handler_entry& of) {
    const manifest now = manifest::local();
    return now.entries().at(of.key()).host_only;
  };
  for (const bool present : {true, false, true}) {
    is_there = present;
    EXPECT_EQ(runs_here(sometimes_there::handler()), present);
    EXPECT_EQ(host_only(sometimes_there::handler()), !present);
    EXPECT_TRUE(runs_here(always_there::handler()));
    EXPECT_FALSE(host_only(always_there::handler()));
  }
}

}  // namespace
