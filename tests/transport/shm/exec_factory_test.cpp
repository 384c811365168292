// exec in HAM_NODES.
#include <gtest/gtest.h>

#include "transport/groups.hpp"
#include "transport/shm/factories.hpp"

namespace ham::inline v1::transport {
namespace {

using test::group_of;
using test::refusal_of;

TEST(exec_transport_factory, reads_words_count_and_cores) {
  const target_group group = group_of("exec", "exec:qemu -L '/usr/a b' ./app*3@0+2");
  EXPECT_EQ(group.by, &exec_factory());
  EXPECT_EQ(group.program.command, (std::vector<std::string>{"qemu", "-L", "/usr/a b", "./app"}));
  EXPECT_FALSE(group.program.complete) << "the application's arguments follow";
  EXPECT_EQ(group.count, 3U);
  EXPECT_EQ(group.cores, (std::vector<int>{0, 2}));
}

TEST(exec_transport_factory, refuses_what_is_no_command) {
  EXPECT_NE(refusal_of("exec", "exec:").find("the path of a program must follow exec:"), std::string::npos);
  EXPECT_NE(refusal_of("exec", "exec: *2").find("the path of a program"), std::string::npos);
  EXPECT_NE(refusal_of("exec", "exec:''").find("the path of a program"), std::string::npos);
  EXPECT_NE(refusal_of("exec", "exec:'./app").find("a quote ' is not closed"), std::string::npos);
  EXPECT_NE(refusal_of("exec", "exec:./app*2x").find("left over"), std::string::npos);
  EXPECT_THROW(static_cast<void>(group_of("exec", std::string_view("exec:./a\0b", 10))), config_error) << "a zero byte";
}

TEST(exec_transport_factory, leaves_starting_to_shm) {
  const starting_factory& exec = *exec_factory().as_starting();
  EXPECT_EQ(&exec.host_factory(), shm_factory().as_starting());
  EXPECT_FALSE(exec.safe_for_privileged()) << "it names programs";
  EXPECT_EQ(exec.probe().available, shm_factory().probe().available);
  EXPECT_EQ(exec.make_target("3"), nullptr) << "HAM_TARGET has the name of shm";
}

}  // namespace
}  // namespace ham::transport
