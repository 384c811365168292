// A process that waits for hosts: it takes one that offers a job, and turns others away.
#include "transport/tcp/listener.hpp"

#include <gtest/gtest.h>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

/// A host that invites a waiting process.
struct inviting_host {
  seat here;
  explicit inviting_host(const job_options& how = {}) {
    here.at = std::make_unique<tcp_network>(host_options(how), job_of(42), &here.memory, here.news);
  }
};

TEST(tcp_listener, says_where_it_waits_with_the_port_that_it_was_given) {
  const tcp_listener waiting(listening({}));
  const std::string address = waiting.address();
  EXPECT_EQ(address.substr(0, 10), "127.0.0.1:");
  EXPECT_NE(address.substr(10), "0");
}

TEST(tcp_listener, an_address_that_is_taken_or_none_is_refused) {
  const tcp_listener first(listening({}));
  job_options same;
  same.listen = first.address();
  EXPECT_THROW(tcp_listener{listening(same)}, config_error);
  for (const char* const wrong : {"", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000"}) {
    job_options how;
    how.listen = wrong;
    EXPECT_THROW(tcp_listener{listening(how)}, config_error) << wrong;
  }
}

TEST(tcp_listener, without_security_only_this_machine_is_listened_to) {
  listen_options open;
  open.address = "0.0.0.0:0";
  EXPECT_THROW(tcp_listener{open}, config_error);
  open.force_insecure = true;
  const tcp_listener forced(open);
  EXPECT_EQ(forced.address().find("0.0.0.0"), std::string::npos) << "nobody can connect to that address";
}

TEST(tcp_listener, hands_over_a_host_that_offers_a_job) {
  tcp_listener waiting(listening({}));
  inviting_host host;
  host.here.at->invite(3, waiting.address(), listening({}).key);
  const auto came = waiting.wait();
  ASSERT_NE(came, nullptr);
  EXPECT_EQ(came->node(), 3);
  EXPECT_EQ(came->from().substr(0, 10), "127.0.0.1:");
  EXPECT_TRUE(!tls_built() || came->job_key() == key_of(42));
  seat there;
  there.at = came->join(&there.memory, there.news);
  ASSERT_NE(host.here.await(3), nullptr);
  ASSERT_NE(there.await(0), nullptr);
  host.here.send(3, 77);
  EXPECT_EQ(there.receive(), 77U);
}

TEST(tcp_listener, tells_a_host_that_it_serves_enough_jobs) {
  tcp_listener waiting(listening({}));
  inviting_host host;
  host.here.at->invite(1, waiting.address(), listening({}).key);
  const bool told = eventually([&] {
    pollfd knocking{waiting.fd(), POLLIN, 0};
    if (::poll(&knocking, 1, 1) == 1) static_cast<void>(waiting.refuse());
    return !host.here.news.lost(1).empty();
  });
  ASSERT_TRUE(told);
  EXPECT_NE(host.here.news.lost(1).front().find(waiting.address()), std::string::npos);
  EXPECT_EQ(host.here.to(1), nullptr);
}

}  // namespace
}  // namespace ham::transport::tcp::test
