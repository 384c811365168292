// Lanes: streams go in full packets, however they are handed over.
#include "transport/tcp/lane.hpp"

#include <linux/tcp.h>

#include "transport/tcp/nodes.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class lanes : public testing::Test {
 protected:
  void SetUp() override {
    auto [here, there] = connected_to(listening_.get());
    ASSERT_TRUE(here && there);
    socket_ = here.get();
    here_ = std::make_unique<lane>(connection{make_stream(std::move(here), nullptr), 0});
    there_ = std::make_unique<lane>(connection{make_stream(std::move(there), nullptr), 0});
  }

  [[nodiscard]] std::uint32_t packets_sent() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    EXPECT_EQ(::getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    return info.tcpi_data_segs_out;
  }

  /// What arrives of `size` bytes while `send` sends them; nothing: not all of them.
  template <class Send>
  [[nodiscard]] bytes received(std::size_t size, Send send) {
    bytes result(size);
    bool whole = false;
    std::thread reader([&] { whole = there_->receive(result); });
    const bool sent = send();
    if (!sent) here_->cut();
    reader.join();
    EXPECT_TRUE(sent && whole);
    return whole ? result : bytes();
  }

  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  int socket_ = -1;
  std::unique_ptr<lane> here_;
  std::unique_ptr<lane> there_;
};

TEST_F(lanes, parts_share_packets) {
  constexpr std::size_t part = 10'000;
  constexpr std::size_t parts = 20;
  const bytes sent = pattern(part * parts + 8);
  const std::span<const std::byte> all = sent;
  EXPECT_EQ(received(sent.size(),
                     [&] {
                       bool good = true;
                       for (std::size_t i = 0; i < parts; ++i)
                         good = good && here_->send_part(all.subspan(i * part, part));
                       return good && here_->send(all.last(8));
                     }),
            sent);
  EXPECT_LT(packets_sent(), parts / 2);
}

TEST_F(lanes, a_part_of_any_size_arrives) {
  const std::size_t burst = burst_bytes(socket_);
  for (const std::size_t size : {std::size_t{1}, burst - 1, burst, burst + 1, 3 * burst - 5, 40 * burst + 7}) {
    const bytes sent = pattern(2 * size + 8);
    const std::span<const std::byte> all = sent;
    EXPECT_EQ(received(sent.size(),
                       [&] {
                         return here_->send_part(all.first(size)) && here_->send_part(all.subspan(size, size)) &&
                                here_->send(all.last(8));
                       }),
              sent)
        << size;
  }
}

TEST_F(lanes, that_were_cut_neither_send_nor_receive) {
  there_->cut();
  bytes any(100'000);
  EXPECT_FALSE(there_->receive(any));
  EXPECT_TRUE(eventually([&] { return !here_->send(any); }));
}

}  // namespace
}  // namespace ham::transport::tcp::test
