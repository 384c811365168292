// The view of a lost peer's heap goes when the last one inside has left, and only once.
#include "transport/common/abandonable_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace ham::inline v1::transport {
namespace {

/// Whose visits last as long as a test likes.
class visited_memory final : public abandonable_memory {
 public:
  explicit visited_memory(base::unique_fd file) : abandonable_memory(std::move(file)) {}
  using abandonable_memory::view;
  using abandonable_memory::visit;
  access_result put(std::uint64_t, std::uint64_t, const std::byte*, std::size_t) override {
    return access_result::unsupported;
  }
  access_result get(std::uint64_t, std::uint64_t, std::byte*, std::size_t) override {
    return access_result::unsupported;
  }
};

class abandoned_heap : public testing::Test {
 protected:
  /// The file of the view is open as long as the view is there.
  [[nodiscard]] bool view_is_there() const { return ::fcntl(fd, F_GETFD) >= 0; }

  base::heap owner{base::heap::make_file()};
  const int fd = ::fcntl(owner.fd(), F_DUPFD_CLOEXEC, 0);
  visited_memory memory{base::unique_fd(fd)};
};

TEST_F(abandoned_heap, is_let_go_at_once_if_nobody_is_inside) {
  ASSERT_TRUE(view_is_there());
  { EXPECT_TRUE(visited_memory::visit(memory)); }
  EXPECT_TRUE(view_is_there());
  memory.abandon();
  EXPECT_FALSE(view_is_there());
  EXPECT_FALSE(visited_memory::visit(memory));
  memory.abandon();
  EXPECT_FALSE(visited_memory::visit(memory));
}

TEST_F(abandoned_heap, stays_for_who_was_inside_before) {
  const auto one = owner.allocate(8);
  auto first = std::make_unique<visited_memory::visit>(memory);
  auto second = std::make_unique<visited_memory::visit>(memory);
  ASSERT_TRUE(*first && *second);
  memory.abandon();
  {
    const visited_memory::visit late(memory);
    EXPECT_FALSE(late);
  }
  EXPECT_TRUE(view_is_there()) << "a refused visit has ended an accepted one's view";
  first.reset();
  EXPECT_TRUE(view_is_there());
  base::heap_check why{};
  EXPECT_NE(memory.view().translate(reinterpret_cast<std::uint64_t>(one.address), one.tag, 8, why), nullptr);
  second.reset();
  EXPECT_FALSE(view_is_there());
}

TEST_F(abandoned_heap, a_visit_that_was_refused_may_outlast_all_others) {
  auto inside = std::make_unique<visited_memory::visit>(memory);
  memory.abandon();
  auto refused = std::make_unique<visited_memory::visit>(memory);
  EXPECT_FALSE(*refused);
  inside.reset();
  refused.reset();
  EXPECT_FALSE(view_is_there());
}

/// Two threads that let go of it at the same time would delete the view twice.
TEST(abandoned_heaps, are_let_go_once_while_others_knock) {
  const base::heap owner{base::heap::make_file()};
  for (int round = 0; round < 50; ++round) {
    visited_memory memory{base::unique_fd(::fcntl(owner.fd(), F_DUPFD_CLOEXEC, 0))};
    std::atomic<int> ready{0};
    std::vector<std::thread> visitors;
    for (int i = 0; i < 3; ++i) {
      visitors.emplace_back([&] {
        base::heap_check why{};
        ++ready;
        for (int refused = 0; refused < 20;) {
          const visited_memory::visit inside(memory);
          if (inside)
            static_cast<void>(memory.view().translate(1, 1, 1, why));
          else
            ++refused;
        }
      });
    }
    while (ready.load() < 3) std::this_thread::yield();
    memory.abandon();
    for (std::thread& one : visitors) one.join();
  }
}

}  // namespace
}  // namespace ham::transport
