// Joining a job over an emulated link; the host is played here.
#include "transport/emulated/target_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "base/control_socket.hpp"
#include "base/heap.hpp"
#include "conformance/subject.hpp"
#include "transport/emulated/segment.hpp"

namespace ham::inline v1::transport::emulated {
namespace {

class emulated_target : public testing::Test {
 protected:
  static welcome good() {
    welcome said;
    said.node = 5;
    said.host = 3;
    said.nodes = 6;
    said.running = 2;
    return said;
  }
  /// Sends `said` with all descriptors, and takes the target's answer to it.
  invitation accept(const welcome& said) {
    const std::size_t bytes = segment::bytes(said.layout);
    const base::unique_fd file = base::make_memory_file("ham-emulated", bytes);
    base::mapping memory(file.get(), bytes);
    const segment there{memory.data(), said.layout};
    initialise(said.layout, [&](std::uint64_t at, std::uint64_t word) { there.word(at).store(word); });
    const base::unique_fd own_heap = base::heap::make_file();
    const base::unique_fd host_heap = base::heap::make_file();
    auto [mine, theirs] = base::make_control_pair();
    host_end_ = std::move(mine);
    const std::array<int, 3> fds{file.get(), own_heap.get(), host_heap.get()};
    EXPECT_TRUE(base::send_control(host_end_.get(), std::as_bytes(std::span(&said, 1)), fds));
    return invitation::accept(theirs.release());
  }

  base::unique_fd host_end_;
};

TEST_F(emulated_target, knows_its_starter_by_the_number_in_the_welcome) {
  conformance::recorder news;
  const std::unique_ptr<target_transport> at = target_transport::make(accept(good()), news);
  at->join();
  ASSERT_NE(news.connected(3), nullptr);
  EXPECT_EQ(news.connected(3)->peer(), 3);
  EXPECT_EQ(news.connected(0), nullptr);
  at->shutdown();
}

TEST_F(emulated_target, declines_a_host_that_cannot_have_started_it) {
  for (const node_t host : {-1, 5}) {
    welcome said = good();
    said.host = host;
    EXPECT_THROW(static_cast<void>(accept(said)), config_error) << host;
  }
}

}  // namespace
}  // namespace ham::transport::emulated
