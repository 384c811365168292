// What a node says of itself.
#include "runtime/node_info.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "base/process.hpp"

namespace ham::inline v1::detail {
namespace {

TEST(local_node_info, describes_this_process) {
  const offload::node_descriptor mine(local_node_info(7));
  EXPECT_EQ(mine.node(), 7);
  EXPECT_EQ(mine.pid(), ::getpid());
  EXPECT_EQ(mine.transport(), "self");
  EXPECT_EQ(mine.device_type(), "cpu");
  EXPECT_EQ(mine.cores(), base::usable_cores());
  std::array<char, 256> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  EXPECT_EQ(mine.name(), name.data());
  EXPECT_NE(mine.isa(), "unknown");
  EXPECT_GT(mine.memory_bytes(), std::uint64_t{1} << 26);
}

}  // namespace
}  // namespace ham::detail
