// A target on a Vector Engine: it reaches its host only, and leaves its process number there.
#include "transport/common/veo_target.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/subject.hpp"

namespace ham::inline v1::transport::veo {
namespace {

class played_target final : public veo_target {
 public:
  played_target(welcome& said, observer& to) : veo_target(said, to) {}
  using veo_target::said;
  [[nodiscard]] const char* name() const noexcept override { return "played"; }
  void join() override {}

 private:
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return true; }
};

TEST(veo_target, tells_its_host_which_process_it_is) {
  welcome said;
  said.node = 4;
  conformance::recorder news;
  const played_target target(said, news);
  EXPECT_EQ(said.pid, ::getpid());
  EXPECT_EQ(&target.said(), &said) << "what the host has left, not a copy";
}

TEST(veo_target, cannot_be_connected_to_other_targets) {
  welcome said;
  conformance::recorder news;
  played_target target(said, news);
  target.connect(2);
  EXPECT_EQ(news.lost(2), std::vector<std::string>{"a target on a Vector Engine reaches its host only"});
  EXPECT_STREQ(target.device_type(), "emulated") << "this is no Vector Engine";
}

}  // namespace
}  // namespace ham::transport::veo
