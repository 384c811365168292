// How many nodes want to run on this machine, and whether it has cores for all of them.
#include "transport/common/supervised_transport.hpp"

#include <gtest/gtest.h>

#include "base/process.hpp"
#include "conformance/subject.hpp"

namespace ham::inline v1::transport {
namespace {

class counting final : public supervised_transport {
 public:
  explicit counting(observer& to) : supervised_transport(to) {}
  using supervised_transport::expect_one_less;
  using supervised_transport::expect_running;
  [[nodiscard]] const char* name() const noexcept override { return "counting"; }
  void connect(node_t) override {}
  void shutdown() noexcept override {}

 private:
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return true; }
};

class supervised : public testing::Test {
 protected:
  const unsigned cores = base::usable_cores();
  conformance::recorder news;
  counting transport{news};
};

TEST_F(supervised, a_host_and_its_target_need_two_cores) { EXPECT_EQ(transport.oversubscribed(), cores < 2); }

TEST_F(supervised, a_machine_is_oversubscribed_by_one_node_more_than_it_has_cores) {
  transport.expect_running(cores);
  EXPECT_FALSE(transport.oversubscribed());
  transport.expect_running(cores + 1);
  EXPECT_TRUE(transport.oversubscribed());
}

TEST_F(supervised, a_node_that_has_ended_leaves_its_core) {
  transport.expect_running(cores + 2);
  transport.expect_one_less();
  EXPECT_TRUE(transport.oversubscribed());
  transport.expect_one_less();
  EXPECT_FALSE(transport.oversubscribed());
}

}  // namespace
}  // namespace ham::transport
