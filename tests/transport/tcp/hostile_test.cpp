// Strangers and traitors: wrong and missing keys, half-open crowds, nonsense after the handshake, exposure without a
// key.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "base/process.hpp"
#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

socket_address resolved(const std::string& address) {
  std::string why;
  return resolve(parse_address(address), false, why).front();
}

base::unique_fd connect_to(const socket_address& address) {
  base::unique_fd result(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(result.get(), address.get(), address.size) != 0) result.reset();
  return result;
}
base::unique_fd connect_to(const std::string& address) { return connect_to(resolved(address)); }

void send_all(int socket, std::span<const std::byte> what) {
  ASSERT_EQ(::send(socket, what.data(), what.size(), MSG_NOSIGNAL), static_cast<ssize_t>(what.size()));
}

/// A listener that is served by a thread until it has made one node of a job.
class served_listener {
 public:
  explicit served_listener(const listen_options& options) : waiting_(options), address_(waiting_.address()) {
    thread_ = std::thread([this] {
      target_.at = waiting_.wait()->join(&target_.memory, target_.news);
      joined_ = true;
    });
  }
  ~served_listener() { thread_.join(); }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] bool joined() const { return joined_; }
  seat& target() {
    EXPECT_TRUE(eventually([&] { return joined_.load(); }));
    return target_;
  }

 private:
  tcp_listener waiting_;
  std::string address_;
  seat target_;
  std::atomic<bool> joined_{false};
  std::thread thread_;
};

std::unique_ptr<seat> make_host(bool secure) {
  job_options how;
  how.secure = secure;
  auto host = std::make_unique<seat>();
  host->at = std::make_unique<tcp_network>(host_options(how), job_of(42), &host->memory, host->news);
  return host;
}

void expect_served(served_listener& by, std::optional<secret_key> key) {
  const auto host = make_host(key.has_value());
  host->at->invite(1, by.address(), key);
  ASSERT_NE(host->await(1), nullptr);
  host->send(1, 77);
  EXPECT_EQ(by.target().receive(), 77U);
}

TEST(tcp_hostile, a_wrong_key_is_told_to_the_honest_side_and_lets_nobody_in) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  served_listener by(listening({}));
  for (int i = 0; i < 3; ++i) {
    const auto other = make_host(true);
    other->at->invite(1, by.address(), key_of(8));
    const std::string why = other->await_loss(1);
    EXPECT_NE(why.find(by.address()), std::string::npos) << why;
    EXPECT_NE(why.find("same key file"), std::string::npos) << why;
    EXPECT_FALSE(by.joined());
  }
  expect_served(by, key_of(7));
}

TEST(tcp_hostile, security_on_one_side_only) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  job_options plain;
  plain.secure = false;
  served_listener secure_one(listening({}));
  served_listener plain_one(listening(plain));
  const auto plain_host = make_host(false);
  plain_host->at->invite(1, secure_one.address(), std::nullopt);
  EXPECT_NE(plain_host->await_loss(1).find("cannot connect"), std::string::npos);
  const auto secure_host = make_host(true);
  secure_host->at->invite(1, plain_one.address(), key_of(7));
  EXPECT_NE(secure_host->await_loss(1).find("runs without security"), std::string::npos);
  EXPECT_FALSE(secure_one.joined());
  EXPECT_FALSE(plain_one.joined());
  EXPECT_THROW(plain_host->at->invite(2, secure_one.address(), key_of(7)), config_error);
  EXPECT_THROW(secure_host->at->invite(2, plain_one.address(), std::nullopt), config_error);
  expect_served(secure_one, key_of(7));
  expect_served(plain_one, std::nullopt);
}

TEST(tcp_hostile, the_key_of_a_server_opens_no_job) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  job one(1);
  network_options options = host_options({});
  options.self = 5;
  options.job_key = key_of(7);  // the server's
  seat stranger;
  stranger.at = std::make_unique<tcp_network>(options, job_of(42), nullptr, stranger.news);
  stranger.at->reach(1, one.node(1).at->address());
  EXPECT_FALSE(stranger.await_loss(1).empty());
  EXPECT_EQ(one.node(1).to(5), nullptr);
}

TEST(tcp_hostile, nodes_of_another_job_are_turned_away) {
  job_options how;
  how.secure = false;
  job one(1, how);
  network_options options = host_options(how);
  options.self = 5;
  seat stranger;
  stranger.at = std::make_unique<tcp_network>(options, job_of(43), nullptr, stranger.news);
  stranger.at->reach(1, one.node(1).at->address());
  EXPECT_NE(stranger.await_loss(1).find("another job"), std::string::npos) << stranger.await_loss(1);
  EXPECT_EQ(one.node(1).to(5), nullptr);
}

TEST(tcp_hostile, exposure_without_a_key_must_be_forced) {
  job_options how;
  how.secure = false;
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    listen_options open = listening(how);
    open.address = address;
    EXPECT_THROW(tcp_listener refused(open), config_error) << address;
    network_options options = host_options(how);
    options.bind = parse_address(address).host;
    seat node;
    EXPECT_THROW(tcp_network(options, {}, nullptr, node.news), config_error) << address;
  }
  listen_options forced = listening(how);
  forced.address = "0.0.0.0:0";
  forced.force_insecure = true;
  tcp_listener allowed(forced);
  EXPECT_FALSE(allowed.address().empty());
}

TEST(tcp_hostile, without_a_key_nobody_connects_to_other_machines_either) {
  job_options how;
  how.secure = false;
  seat node;
  node.at = std::make_unique<tcp_network>(host_options(how), job_id{}, &node.memory, node.news);
  node.at->invite(1, "192.0.2.1:7000", std::nullopt);  // an address for documentation, of nobody
  EXPECT_NE(node.await_loss(1).find("only loopback addresses"), std::string::npos) << node.news.lost(1).front();
  node.at->shutdown();
}

// ---- a peer that has shown what it must, and then breaks the format

/// Speaks plaintext by hand, as the host of a job.
class hand_made_host {
 public:
  /// `port`: where it says that it listens.
  explicit hand_made_host(const std::string& address, std::size_t piece = SIZE_MAX, std::uint16_t port = 0)
      : socket_(connect_to(address)), piece_(piece) {
    hello mine;
    mine.what = purpose::invite;
    mine.to = 1;
    mine.nonce = 99;
    mine.port = port;
    std::array<std::byte, hello::bytes> bytes;
    store_hello(bytes.data(), mine);
    send(bytes);
    std::array<std::byte, welcome::bytes> answer;
    EXPECT_EQ(::recv(socket_.get(), answer.data(), answer.size(), MSG_WAITALL), static_cast<ssize_t>(answer.size()));
    EXPECT_EQ(read_welcome(answer, 99, welcome_), nullptr);
    EXPECT_EQ(welcome_.answer, verdict::accepted);
  }
  void send(std::span<const std::byte> what) {
    for (; !what.empty(); what = what.subspan(std::min(piece_, what.size()))) {
      send_all(socket_.get(), what.first(std::min(piece_, what.size())));
    }
  }
  void send_frame(const wire_head& head, std::size_t payload = 0) {
    bytes frame(head_bytes + payload, std::byte{4});
    store_head(frame.data(), head, welcome_.epoch);
    send(frame);
  }
  [[nodiscard]] std::uint32_t epoch() const { return welcome_.epoch; }
  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  base::unique_fd socket_;
  std::size_t piece_;
  welcome welcome_;
};

listen_options plaintext() {
  job_options how;
  how.secure = false;
  return listening(how);
}

TEST(tcp_hostile, one_byte_at_a_time_is_slow_but_right) {
  served_listener by(plaintext());
  hand_made_host host(by.address(), 1);
  for (std::uint32_t i = 0; i < 20; ++i) host.send_frame({30, 1, 1, i, 0, 0}, 30);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(by.target().receive(), i);
}

TEST(tcp_hostile, a_flood_of_requests_for_lanes_begins_few) {
  const base::unique_fd wanted_at = listen_at(parse_address("127.0.0.1:0"), true);
  served_listener by(plaintext());
  hand_made_host host(by.address(), SIZE_MAX, local_address(wanted_at.get()).port());
  for (std::uint32_t i = 0; i < 500; ++i) host.send_frame({0, want_lane_kind, 1, 0, 0, 0});
  host.send_frame({4, 1, 1, 11, 0, 0}, 4);
  EXPECT_EQ(by.target().receive(), 11U) << "all of them were read";
  // Nobody answers there, so none of the attempts ends.
  std::vector<base::unique_fd> attempts;
  pollfd knocking{wanted_at.get(), POLLIN, 0};
  for (int timeout_ms = 20'000; ::poll(&knocking, 1, timeout_ms) == 1; timeout_ms = 500)
    attempts.emplace_back(::accept(wanted_at.get(), nullptr, nullptr));
  EXPECT_GE(attempts.size(), 1U);
  EXPECT_LE(attempts.size(), 2 * bulk_client::max_lanes);
  // When they have failed, a lane can be asked for again.
  attempts.clear();
  EXPECT_TRUE(eventually([&] {
    host.send_frame({0, want_lane_kind, 1, 0, 0, 0});
    static_cast<void>(by.target().receive(1ms));
    return ::poll(&knocking, 1, 50) == 1;
  }));
}

TEST(tcp_hostile, nonsense_after_the_handshake_closes_the_endpoint_and_nothing_else) {
  const auto kinds = [](hand_made_host& host, int what) {
    switch (what) {
      case 0: host.send(bytes(1000, std::byte{0xff})); break;
      case 1: host.send_frame({static_cast<std::uint32_t>(largest_payload) + 1, 1, 1, 0, 0, 0}); break;
      case 2: host.send_frame({0, 200, 1, 0, 0, 0}); break;
      case 3: host.send_frame({0, 1, 1, 0, 0, 5}); break;  // took what was never sent
      case 4: {
        bytes stray(head_bytes);
        store_head(stray.data(), {0, 1, 1, 0, 0, 0}, host.epoch() + 1);
        host.send(stray);
        break;
      }
      default: host.send(bytes(1000)); break;
    }
  };
  for (int what = 0; what < 6; ++what) {
    served_listener by(plaintext());
    hand_made_host host(by.address());
    host.send_frame({4, 1, 1, 11, 0, 0}, 4);
    EXPECT_EQ(by.target().receive(), 11U);
    kinds(host, what);
    EXPECT_FALSE(by.target().receive(100ms)) << what;
    const std::string why = by.target().await_loss(0);
    EXPECT_EQ(why.find("broken: "), 0U) << what << why;
    EXPECT_NE(why.find("wire format"), std::string::npos) << what << why;
    EXPECT_NE(by.target().to(0)->state(), endpoint_state::open);
    // The traitor sees the end, too.
    std::byte rest[4096];
    EXPECT_TRUE(eventually([&] { return ::recv(host.socket(), rest, sizeof rest, MSG_DONTWAIT) == 0; }));
  }
}

TEST(tcp_hostile, a_greeting_of_nonsense_is_dropped) {
  served_listener by(plaintext());
  for (int i = 0; i < 20; ++i) {
    const base::unique_fd socket = connect_to(by.address());
    bytes nonsense(hello::bytes, static_cast<std::byte>(i * 31));
    send_all(socket.get(), nonsense);
    std::byte rest[100];
    EXPECT_LE(::recv(socket.get(), rest, sizeof rest, 0), 0);
  }
  EXPECT_FALSE(by.joined());
  expect_served(by, std::nullopt);
}

// ---- crowds

std::size_t open_descriptors() {
  DIR* const all = ::opendir("/proc/self/fd");
  std::size_t count = 0;
  while (::readdir(all) != nullptr) ++count;
  ::closedir(all);
  return count;
}

std::size_t resident_kib() {
  std::ifstream status("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  status >> total >> resident;
  return resident * 4;
}

/// A process that opens connections and says nothing, or half a word; it ends with this one. Number that it has open.
class crowd {
 public:
  crowd(const std::string& address, std::size_t size) {
    const socket_address at = resolved(address);
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      base::raise_file_limit();
      // Without memory: another thread of the parent may have been in a sanitizer's allocator, which stays locked here.
      std::size_t count = 0;
      for (; count < size; ++count) {
        const int one = connect_to(at).release();
        if (one < 0) break;
        if (count % 2 == 0 && ::send(one, "HA", 2, MSG_NOSIGNAL) < 0) continue;
      }
      if (::write(ends[1], &count, sizeof count) < 0) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    if (::read(ends[0], &opened, sizeof opened) != sizeof opened) opened = 0;
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~crowd() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  std::size_t opened = 0;

 private:
  pid_t child_;
};

/// More than are kept by far.
constexpr std::size_t crowd_size = ham::test::unless_sanitized<std::size_t>(10'000, 3'000);

TEST(tcp_hostile, ten_thousand_half_open_connections_to_a_listener) {
  job_options how;
  served_listener by(listening(how));
  const std::size_t descriptors = open_descriptors();
  const std::size_t resident = resident_kib();
  crowd silent(by.address(), crowd_size);
  EXPECT_GE(silent.opened, 900U) << "the limit of open files is too low for this test to say anything";
  EXPECT_LE(open_descriptors(), descriptors + acceptor::max_half_open + 8);
  EXPECT_FALSE(by.joined());
  expect_served(by, listening(how).key);
#if !defined(HAM_TEST_SANITIZED)
  EXPECT_LE(resident_kib(), resident + 64 * 1024);
#else
  static_cast<void>(resident);
#endif
}

TEST(tcp_hostile, ten_thousand_half_open_connections_to_a_node) {
  job_options how;
  // The kernel drops a SYN while the queue of the listener is full, and repeats it after 1, 3, 7, 15 s.
  job two(2, how);
  const std::size_t descriptors = open_descriptors();
  crowd silent(two.node(1).at->address(), crowd_size);
  EXPECT_LE(open_descriptors(), descriptors + acceptor::max_half_open + 8);
  two.node(2).at->reach(1, two.node(1).at->address());
  ASSERT_NE(two.node(2).await(1), nullptr);
  two.host().send(1, 5);
  EXPECT_EQ(two.node(1).receive(), 5U);
}

TEST(tcp_hostile, who_says_nothing_is_dropped_after_a_while) {
  job_options how;
  how.timeout = 2s;  // also for those that are served
  served_listener by(listening(how));
  const base::unique_fd silent = connect_to(by.address());
  std::byte nothing{};
  EXPECT_EQ(::recv(silent.get(), &nothing, 1, 0), 0);
  expect_served(by, listening(how).key);
}

// ---- a listener in a child

TEST(tcp_listener, serves_in_a_child_after_a_fork) {
  tcp_listener waiting(listening({}));
  const std::string address = waiting.address();
  const base::unique_fd half_open = connect_to(address);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    seat target;
    target.at = waiting.wait()->join(&target.memory, target.news);
    const auto got = target.receive();
    target.send(0, got.value_or(0) + 1);
    static_cast<void>(target.await_loss(0));
    target.at->shutdown();
    ::_exit(0);
  }
  const auto host = make_host(tls_built());
  host->at->invite(1, address, listening({}).key);
  ASSERT_NE(host->await(1), nullptr);
  host->send(1, 41);
  EXPECT_EQ(host->receive(), 42U);
  host->at->shutdown();
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ham::transport::tcp::test
