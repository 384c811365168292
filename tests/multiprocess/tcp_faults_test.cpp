// A serving target and a network that cuts, changes, repeats, delays and stalls what passes: with keys nothing but an
// honest host gets in, futures settle, and the target goes on serving.
// link: ham::ham
// timeout: 400
// serial: no
// also: HAM_TCP_RECORDS=openssl
#include <arpa/inet.h>

#include <atomic>

#include "base/process.hpp"
#include "faults/fault_proxy.hpp"
#include "tcp_server.hpp"
#include "transport/tcp/hello_format.hpp"

using namespace ham;
using namespace ham::test;
namespace tcp = ham::transport::tcp;

namespace {

int twice(int value) { return 2 * value; }
std::size_t length(const std::string& text) { return text.size(); }
std::string grown(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}
std::atomic<int> counted{0};
int count() { return ++counted; }

/// Parameter: whether with a key.
class tcp_faults : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ::setenv("HAM_TCP_TIMEOUT", "0.5", 1);
    if (!GetParam()) ::setenv("HAM_TCP_SECURITY", "off", 1);
    target_.emplace(GetParam() ? key_.path() : "");
    proxy_.emplace(target_->address());
  }
  void TearDown() override {
    proxy_->heal();
    expect_served();
    proxy_.reset();
    target_.reset();
    ::unsetenv("HAM_TCP_TIMEOUT");
    ::unsetenv("HAM_TCP_SECURITY");
  }

  [[nodiscard]] runtime_options through_proxy() const { return options(proxy_->nodes()); }
  [[nodiscard]] runtime_options options(const std::string& nodes_text) const {
    return GetParam() ? with_key(nodes_text, key_.path()) : nodes(nodes_text);
  }
  [[nodiscard]] fault_proxy& proxy() { return *proxy_; }
  [[nodiscard]] const server& target() const { return *target_; }

  /// An honest host is served.
  void expect_served() {
    const runtime rt(options(target_->nodes()));
    EXPECT_EQ(offload::sync(1, fn<&twice>, 21), 42);
  }
  /// Number of bytes that an honest host says until it can call.
  std::size_t bytes_of_a_start() {
    proxy_->heal();
    proxy_->forget();
    std::size_t size = 0;
    {
      const runtime rt(through_proxy());
      size = proxy_->recorded().size();
      EXPECT_EQ(offload::sync(1, fn<&twice>, 2), 4);
    }
    return size;
  }
  /// What the host is told, at the start or, if the damage came right behind the greeting, by its first call. Empty:
  /// the call has run.
  std::string refusal() {
    try {
      const runtime rt(through_proxy());
      // A changed length makes the receiver wait for bytes that nobody sent, as if the line stood still.
      static_cast<void>(offload::sync(offload::within(1, 5s), fn<&twice>, 1));
    } catch (const deadline_exceeded& problem) {
      return problem.what();
    } catch (const config_error& problem) {
      const std::string what = problem.what();
      EXPECT_NE(what.find(proxy_->address()), std::string::npos) << what;
      return what;
    } catch (const node_failure& failure) {
      EXPECT_EQ(failure.node(), 1);
      return failure.what();
    }
    return {};
  }

 private:
  const scratch_key key_{'7'};
  std::optional<server> target_;
  std::optional<fault_proxy> proxy_;
};

INSTANTIATE_TEST_SUITE_P(, tcp_faults, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "with_a_key" : "without"); });

base::unique_fd connect_to(const std::string& address) {
  base::unique_fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) socket.reset();
  return socket;
}

/// What comes back for `words`, until the other side ends the connection. It must.
std::string answer_to(const std::string& address, std::span<const std::byte> words) {
  const base::unique_fd socket = connect_to(address);
  EXPECT_EQ(::send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
  std::string answer;
  char buffer[4096];
  for (;;) {
    pollfd waiting{socket.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 20'000) <= 0) {
      ADD_FAILURE() << "the connection is kept";
      return answer;
    }
    const ssize_t got = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (got <= 0) return answer;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
}

// ---- the handshake

TEST_P(tcp_faults, a_handshake_that_is_cut_anywhere_is_an_error_and_nothing_else) {
  const std::size_t bytes = bytes_of_a_start();
  ASSERT_GE(bytes, tcp::hello::bytes);
  const std::size_t step = sanitized() ? 31 : 13;
  for (std::size_t at = 0; at < std::min<std::size_t>(bytes, 1500); at += step) {
    fault cut;
    cut.cut_at = at;
    cut.how = at % 2 == 0 ? fault::end::reset : fault::end::orderly;
    proxy().plan(cut, {});
    ASSERT_FALSE(refusal().empty()) << "cut at " << at << " of " << bytes;
  }
  for (std::size_t at = 0; at < tcp::welcome::bytes; at += 3) {
    fault cut;
    cut.cut_at = at;
    proxy().plan({}, cut);
    ASSERT_FALSE(refusal().empty()) << "answer cut at " << at;
  }
}

TEST_P(tcp_faults, with_a_key_no_bit_of_a_handshake_can_be_changed) {
  if (!GetParam()) GTEST_SKIP() << "without a key nobody can tell";
  const std::size_t bytes = bytes_of_a_start();
  const std::size_t step = sanitized() ? 47 : 17;
  for (std::size_t at = 0; at < std::min<std::size_t>(bytes, 1500); at += step) {
    fault flip;
    flip.flip_at = at;
    proxy().plan(flip, {});
    ASSERT_FALSE(refusal().empty()) << "changed at " << at << " of " << bytes;
    if (at >= 200) continue;
    proxy().plan({}, flip);
    ASSERT_FALSE(refusal().empty()) << "answer changed at " << at;
  }
}

TEST_P(tcp_faults, a_recorded_handshake_opens_nothing_a_second_time) {
  if (!GetParam()) GTEST_SKIP() << "without a key anybody is let in";
  static_cast<void>(bytes_of_a_start());
  const std::vector<std::byte> before = proxy().recorded();
  ASSERT_GT(before.size(), 300U);
  for (int i = 0; i < 5; ++i) {
    const std::string answer = answer_to(target().address(), before);
    EXPECT_EQ(answer.find("HAMW"), std::string::npos);
    EXPECT_LT(answer.size(), 400U) << "more than the first words of a server that does not know who calls";
  }
}

TEST_P(tcp_faults, plaintext_to_a_target_with_a_key) {
  if (!GetParam()) GTEST_SKIP() << "it has none";
  tcp::hello words;
  words.to = 1;
  std::array<std::byte, tcp::hello::bytes> bytes;
  store_hello(bytes.data(), words);
  EXPECT_EQ(answer_to(target().address(), bytes).find("HAMW"), std::string::npos);
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  EXPECT_THROW(const runtime rt(nodes(target().nodes())), config_error);
  ::unsetenv("HAM_TCP_SECURITY");
}

TEST_P(tcp_faults, a_key_shown_to_a_target_without_one) {
  if (GetParam()) GTEST_SKIP() << "it has one";
  const scratch_key key('8');
  ::unsetenv("HAM_TCP_SECURITY");
  EXPECT_THROW(const runtime rt(with_key(target().nodes(), key.path())), config_error);
  ::setenv("HAM_TCP_SECURITY", "off", 1);
}

// ---- the job

TEST_P(tcp_faults, one_byte_at_a_time_works) {
  fault slow;
  slow.piece = 1;
  proxy().plan(slow, slow);
  const runtime rt(through_proxy());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(offload::sync(1, fn<&twice>, i), 2 * i);
  EXPECT_EQ(offload::sync(1, fn<&grown>, "0123456789", 300).size(), 3000U);
}

TEST_P(tcp_faults, a_slow_network_is_slow_and_right) {
  fault slow;
  slow.delay = 5ms;
  slow.piece = 20'000;
  proxy().plan(slow, slow);
  const runtime rt(through_proxy());
  std::vector<offload::future<int>> many;
  for (int i = 0; i < 500; ++i) many.push_back(offload::async(1, fn<&twice>, i));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)].get(), 2 * i);
  EXPECT_EQ(offload::sync(1, fn<&grown>, std::string(1000, 'x'), 500), std::string(500'000, 'x'));
}

TEST_P(tcp_faults, deadlines_fire_in_a_network_that_stalls_and_late_replies_are_dropped) {
  const runtime rt(through_proxy());
  EXPECT_EQ(offload::sync(1, fn<&count>), 1);
  proxy().stall(true);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THROW((void)offload::sync(offload::within(1, 200ms), fn<&count>), deadline_exceeded);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 200ms);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  proxy().stall(false);
  const int calls = offload::sync(1, fn<&count>);
  EXPECT_TRUE(calls == 2 || calls == 3) << calls << ": the late call was taken out, or its reply was dropped";
}

TEST_P(tcp_faults, futures_settle_when_the_connection_ends) {
  for (const auto how : {fault::end::reset, fault::end::orderly}) {
    const runtime rt(through_proxy());
    EXPECT_EQ(offload::sync(1, fn<&twice>, 1), 2);
    proxy().stall(true);
    std::vector<offload::future<int>> many;
    for (int i = 0; i < 100; ++i) many.push_back(offload::async(1, fn<&twice>, i));
    proxy().end_all(how);
    proxy().stall(false);
    for (auto& one : many) EXPECT_THROW((void)one.get(), node_failure);
    EXPECT_THROW((void)offload::sync(1, fn<&twice>, 1), node_failure);
    const node_t again = offload::add_node(proxy().nodes());
    EXPECT_EQ(offload::sync(again, fn<&twice>, 4), 8) << "a new connection knows nothing of the old one";
  }
}

TEST_P(tcp_faults, a_message_that_is_cut_in_the_middle_never_runs) {
  const std::size_t bytes = bytes_of_a_start();
  for (const std::size_t more : {1000U, 20'000U, 60'000U, 150'000U}) {
    fault cut;
    cut.cut_at = bytes + more;
    proxy().plan(cut, {});
    const runtime rt(through_proxy());
    EXPECT_THROW((void)offload::sync(1, fn<&length>, std::string(400'000, 'x')), node_failure) << more;
  }
}

TEST_P(tcp_faults, a_changed_bit_in_a_job_ends_it) {
  if (!GetParam()) GTEST_SKIP() << "without a key nobody can tell";
  for (int i = 0; i < 5; ++i) {
    const runtime rt(through_proxy());
    EXPECT_EQ(offload::sync(1, fn<&twice>, 1), 2);
    proxy().flip_next();
    EXPECT_THROW((void)offload::sync(1, fn<&twice>, 5), node_failure);
  }
}

// ---- crowds

std::size_t resident_kib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

TEST_P(tcp_faults, ten_thousand_half_open_connections) {
  base::raise_file_limit();
  pid_t waiting = -1;  // the process that takes the next host
  ASSERT_TRUE(eventually([&] { return (waiting = child_of(target().pid())) > 0; }));
  const std::size_t descriptors = descriptors_of(waiting);
  const std::size_t resident = resident_kib(waiting);
  std::vector<base::unique_fd> crowd;
  std::size_t most = 0;
  std::size_t opened = 0;
  const auto until = std::chrono::steady_clock::now() + 60s;
  for (int batch = 0; batch < (sanitized() ? 10 : 20) && std::chrono::steady_clock::now() < until; ++batch) {
    if (crowd.size() >= 1000) crowd.erase(crowd.begin(), crowd.begin() + 500);
    for (int i = 0; i < 500; ++i) {
      crowd.push_back(connect_to(target().address()));
      ASSERT_TRUE(crowd.back());
      if (i % 2 == 0) static_cast<void>(::send(crowd.back().get(), "\x16\x03\x01", 3, MSG_NOSIGNAL));
      ++opened;
    }
    most = std::max(most, descriptors_of(waiting));
  }
  EXPECT_GE(opened, 5000U);
  EXPECT_LE(most, descriptors + 64 + 8);
  const std::size_t allowance = sanitized() ? 512 * 1024 : 32 * 1024;  // a sanitizer keeps what was freed
  EXPECT_LE(resident_kib(waiting), resident + allowance);
  expect_served();  // while they are there
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
