// mpi and parent in HAM_NODES.
#include <gtest/gtest.h>

#include "transport/groups.hpp"
#include "transport/launched_factory.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

using test::group_of;
using test::refusal_of;
using test::transport_named;

TEST(mpi_factory, reads_how_many_ranks_there_are_to_be) {
  EXPECT_EQ(group_of("mpi", "mpi").count, 0U) << "as many as there are";
  EXPECT_EQ(group_of("mpi", "mpi:3").count, 3U);
  EXPECT_EQ(group_of("parent", "parent").count, 0U);
  EXPECT_NE(refusal_of("mpi", "mpi@1").find("can be given cores"), std::string::npos);
  EXPECT_NE(refusal_of("mpi", "mpi:3x").find("left over"), std::string::npos);
}

TEST(mpi_factory, spawned_processes_start_none_by_it) {
  EXPECT_NE(transport_named("mpi").as_launched(), nullptr);
  EXPECT_NE(transport_named("parent").as_launched(), nullptr);
  EXPECT_TRUE(transport_named("mpi").starts_programs());
  EXPECT_FALSE(transport_named("parent").starts_programs());
  EXPECT_TRUE(transport_named("parent").help().syntax.empty()) << "it is not for users";
  EXPECT_TRUE(transport_named("parent").default_nodes().empty());
  EXPECT_FALSE(transport_named("mpi").safe_for_privileged()) << "MPI takes names of code from the environment";
}

}  // namespace
}  // namespace ham::transport::mpi
