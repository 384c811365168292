// shm in HAM_NODES and HAM_TARGET.
#include <gtest/gtest.h>

#include "transport/groups.hpp"
#include "transport/shm/factories.hpp"

namespace ham::inline v1::transport {
namespace {

using test::group_of;
using test::refusal_of;

TEST(shm_transport_factory, reads_count_and_cores) {
  const target_group plain = group_of("shm", "shm");
  EXPECT_EQ(plain.by, &shm_factory());
  EXPECT_EQ(plain.count, 1U);
  EXPECT_TRUE(plain.cores.empty());
  EXPECT_TRUE(plain.program.command.empty());
  const target_group placed = group_of("shm", "shm:3@1+4-5");
  EXPECT_EQ(placed.count, 3U);
  EXPECT_EQ(placed.cores, (std::vector<int>{1, 4, 5}));
  EXPECT_NE(refusal_of("shm", "shm:2x").find("\"x\" is left over"), std::string::npos);
  EXPECT_NE(refusal_of("shm", "shm/read=1").find("left over"), std::string::npos);
}

TEST(shm_transport_factory, starts_programs_of_this_machine) {
  const starting_factory& shm = *shm_factory().as_starting();
  EXPECT_EQ(&shm.host_factory(), &shm);
  EXPECT_TRUE(shm.starts_programs());
  EXPECT_TRUE(shm.starts_own_program());
  EXPECT_TRUE(shm.places_nodes());
  EXPECT_TRUE(shm.safe_for_privileged());
  EXPECT_TRUE(shm.probe().available) << shm.probe().remark;
}

TEST(shm_transport_factory, takes_a_descriptor_from_its_host) {
  const starting_factory& shm = *shm_factory().as_starting();
  for (const char* told : {"", "none", "-1", "1073741824"}) {
    EXPECT_THROW(static_cast<void>(shm.make_target(told)), config_error) << told;
  }
  EXPECT_EQ(shm.make_called_target(0), nullptr) << "such targets are not called";
}

}  // namespace
}  // namespace ham::transport
