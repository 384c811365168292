// The state of an endpoint: open until it is closed, with the first reason.
#include "transport/common/owned_endpoint.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "transport/common/idle_endpoint.hpp"

namespace ham::inline v1::transport {
namespace {

using owned = test::idle_endpoint_of<owned_endpoint>;

class some_memory final : public remote_memory {
 public:
  access_result put(std::uint64_t, std::uint64_t, const std::byte*, std::size_t) override {
    return access_result::lost;
  }
  access_result get(std::uint64_t, std::uint64_t, std::byte*, std::size_t) override { return access_result::lost; }
};

TEST(owned_endpoint, is_open_at_first) {
  owned one(7);
  EXPECT_EQ(one.peer(), 7);
  EXPECT_EQ(one.state(), endpoint_state::open);
  EXPECT_EQ(one.reason(), "");
  EXPECT_EQ(one.memory(), nullptr);
  EXPECT_FALSE(one.peer_copies_mapped());
  one.set_peer_copies_mapped();
  EXPECT_TRUE(one.peer_copies_mapped());
}

TEST(owned_endpoint, keeps_the_first_reason_why_it_was_closed) {
  owned one(1);
  one.close("it spoke nonsense");
  EXPECT_EQ(one.state(), endpoint_state::broken);
  EXPECT_EQ(one.reason(), "it spoke nonsense");
  one.close("it was too late");
  EXPECT_EQ(one.reason(), "it spoke nonsense");
}

TEST(owned_endpoint, who_sees_it_closed_reads_why) {
  owned one(1);
  std::thread closer([&] { one.close("a reason that is too long to be kept inside of a string object"); });
  while (one.state() == endpoint_state::open) std::this_thread::yield();
  EXPECT_EQ(one.reason(), "a reason that is too long to be kept inside of a string object");
  closer.join();
}

TEST(owned_endpoint, has_one_reason_if_two_threads_close_it) {
  for (int round = 0; round < 50; ++round) {
    owned one(1);
    std::thread other([&] { one.close("theirs"); });
    one.close("ours");
    const std::string reason = one.reason();
    other.join();
    EXPECT_EQ(one.reason(), reason);
    EXPECT_TRUE(reason == "ours" || reason == "theirs") << reason;
  }
}

TEST(owned_endpoint, holds_what_it_works_on_as_long_as_it_lives) {
  auto kept = std::make_shared<int>(3);
  const std::weak_ptr<int> watched = kept;
  auto memory = std::make_shared<some_memory>();
  std::optional<owned> one(std::in_place, 1);
  one->keep(std::exchange(kept, nullptr));
  one->set_memory(memory);
  one->close("over");
  EXPECT_FALSE(watched.expired()) << "a closed endpoint still has its memory";
  const std::shared_ptr<remote_memory> held = one->memory();
  EXPECT_EQ(held, memory);
  one.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(held.use_count(), 2) << "access to the peer's memory may outlive the endpoint";
}

}  // namespace
}  // namespace ham::transport
