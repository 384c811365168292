// What an invitation becomes: a place in the job, the memory that the host has made, a transport that joins.
#include "transport/common/invited_target.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/unique_fd.hpp"
#include "conformance/subject.hpp"

namespace ham::inline v1::transport {
namespace {

struct letter {
  base::unique_fd own_heap;
  std::string content;
};

/// Of a host that makes no memory for its targets.
struct short_letter {
  std::string content;
};

/// Notes what it is made of, and that it joins.
class carrier final : public transport {
 public:
  carrier(std::string content, observer& to) : written(std::move(content)), reports_to(&to) {}
  template <class Letter>
  static std::unique_ptr<carrier> make(Letter from, observer& to) {
    return std::make_unique<carrier>(std::move(from.content), to);
  }
  void join() { joined = true; }

  [[nodiscard]] const char* name() const noexcept override { return "carrier"; }
  void connect(node_t) override {}
  endpoint* poll(frame&, unsigned) override { return nullptr; }
  bool arm() override { return true; }
  void disarm() noexcept override {}
  [[nodiscard]] int wake_fd() const noexcept override { return -1; }
  void wake() noexcept override {}
  void shutdown() noexcept override {}

  std::string written;
  observer* reports_to;
  bool joined = false;
};

TEST(invited_target, has_the_place_the_memory_and_the_transport_of_its_invitation) {
  letter from{base::heap::make_file(), "content"};
  const int memory = from.own_heap.get();
  invited_target<carrier, letter> side(std::move(from), 3, 2, 5);
  EXPECT_EQ(side.self(), 3);
  EXPECT_EQ(side.host(), 2);
  EXPECT_EQ(side.nodes(), 5U);
  EXPECT_EQ(side.take_memory()->fd(), memory);
  conformance::recorder news;
  const std::unique_ptr<transport> made = side.open(news);
  const auto& what = dynamic_cast<const carrier&>(*made);
  EXPECT_EQ(what.written, "content");
  EXPECT_EQ(what.reports_to, &news);
  EXPECT_FALSE(what.joined);
  side.join();
  EXPECT_TRUE(what.joined);
}

TEST(invited_target, makes_its_own_memory_if_the_host_has_not) {
  invited_target<carrier, short_letter> side({"content"}, 3, 2, 5);
  const std::unique_ptr<base::heap> memory = side.take_memory();
  ASSERT_NE(memory, nullptr);
  EXPECT_NE(memory->allocate(64).address, nullptr);
  conformance::recorder news;
  const std::unique_ptr<transport> made = side.open(news);
  EXPECT_EQ(dynamic_cast<const carrier&>(*made).written, "content");
}

}  // namespace
}  // namespace ham::transport
