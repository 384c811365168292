// The bell of a sleeping node: who writes its event descriptor, and which fences its senders pay.
#include "transport/common/bell.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "base/heavy_fence.hpp"
#include "base/shared_event.hpp"
#include "base/unique_fd.hpp"
#include "transport/common/ring_endpoint.hpp"

namespace ham::inline v1::transport {
namespace {

class sleeping_node : public testing::Test {
 protected:
  struct event {
    base::unique_fd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    base::shared_event mine{fd.get()};
    [[nodiscard]] bool written() {
      pollfd one{mine.fd(), POLLIN, 0};
      const bool rung = ::poll(&one, 1, 0) == 1;
      mine.drain();
      return rung;
    }
  };

  [[nodiscard]] std::unique_ptr<ring_endpoint> endpoint_of(node_t sender, int event_fd) {
    memory.push_back(std::make_unique<std::array<std::byte, ring_pair::bytes + line_bytes>>());
    const auto address = reinterpret_cast<std::uintptr_t>(memory.back()->data());
    const ring_pair rings{memory.back()->data() + (line_bytes - address % line_bytes) % line_bytes, 1};
    rings.control(0).armed.store(1);
    return std::make_unique<ring_endpoint>(0, sender, rings, 0, remote_bell{&page, event_fd});
  }
  static void send(ring_endpoint& to) {
    ASSERT_NE(to.reserve(0), nullptr);
    to.commit({1, 1, 1});
  }

  std::vector<std::unique_ptr<std::array<std::byte, ring_pair::bytes + line_bytes>>> memory;
  bell page{};
};

TEST_F(sleeping_node, is_woken_by_others_while_one_sender_is_held_up) {
  int full[2];
  ASSERT_EQ(::pipe2(full, O_CLOEXEC), 0);
  const base::unique_fd out(full[0]);
  const base::unique_fd in(full[1]);
  ASSERT_EQ(::fcntl(in.get(), F_SETFL, O_NONBLOCK), 0);
  const std::uint64_t any = 0;
  while (::write(in.get(), &any, sizeof any) > 0) {
  }
  ASSERT_EQ(::fcntl(in.get(), F_SETFL, 0), 0);
  event own;
  page.sleeping.store(1);
  // The kernel holds the first sender where it writes the event descriptor.
  const auto held_up = endpoint_of(1, in.get());
  const auto other = endpoint_of(2, own.fd.get());
  std::thread sender([&] { send(*held_up); });
  while (page.bits[0].load() == 0 || page.attention.load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it goes on to the write
  send(*other);
  EXPECT_TRUE(own.written()) << "the second sender relied on the first one, which has not written yet";
  std::array<char, 1 << 16> rest{};
  EXPECT_GT(::read(out.get(), rest.data(), rest.size()), 0);
  sender.join();
}

TEST_F(sleeping_node, is_written_once_and_not_mistaken_for_a_later_sleep) {
  event own;
  const auto one = endpoint_of(1, own.fd.get());
  page.sleeping.store(7);
  send(*one);
  EXPECT_TRUE(own.written());
  EXPECT_EQ(page.sleeping.load(), 0U);
  send(*one);
  EXPECT_FALSE(own.written()) << "it has been told";
  const std::uint32_t before = (page.sleeping.store(8), ring_bell(page, 1));
  page.sleeping.store(9);  // it woke and sleeps again
  woken(page, before);
  EXPECT_EQ(page.sleeping.load(), 9U) << "a late sender would have hidden the second sleep from all others";
}

TEST_F(sleeping_node, costs_its_senders_a_fence_until_it_says_that_it_orders_them) {
  event own;
  const auto one = endpoint_of(1, own.fd.get());
  EXPECT_TRUE(one->fenced());
  send(*one);
  EXPECT_TRUE(one->fenced()) << "the receiver has no membarrier, or is not up yet";
  page.orders_senders.store(1);
  send(*one);
  EXPECT_EQ(one->fenced(), !base::register_heavy_fence());
}

}  // namespace
}  // namespace ham::transport
