// tcp joins the conformance suite, without TLS and with the records of TLS that HAM and OpenSSL make: the peer is this
// program, started again.
#include <signal.h>
#include <sys/socket.h>

#include <cstdlib>

#include "base/process.hpp"
#include "conformance/subject.hpp"
#include "conformance/tcp_module.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

constexpr const char* marker = "HAM_CONFORMANCE_TCP";

/// As the marker says it.
enum class security : char { none = '0', by_ham = '1', by_openssl = '2' };

tls_records records_of(security what) { return what == security::by_openssl ? tls_records::openssl : tls_records::ham; }

std::optional<secret_key> key_if(security what) {
  if (what == security::none) return std::nullopt;
  secret_key key{};
  key.fill(std::byte{0x5a});
  return key;
}

class tcp_subject final : public subject {
 public:
  explicit tcp_subject(security what) : memory_(base::heap::make_file()) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("no socket pair");
    const base::unique_fd mine(ends[0]);
    const base::unique_fd theirs(ends[1]);
    const std::string how = std::string(marker) + "=" + static_cast<char>(what) + ":" + std::to_string(theirs.get());
    process_ = base::start_process({{"/proc/self/exe"}, {how}, theirs.get(), {}});
    char address[64] = {};
    if (::read(mine.get(), address, sizeof address - 1) <= 0) throw std::runtime_error("the peer did not start");

    network_options options;
    options.job_key.fill(std::byte{0x77});
    options.secure = what != security::none;
    options.records = records_of(what);
    here_ = tcp_module().open(options, &memory_, news_);
    here_->invite(1, address, key_if(what));
  }
  ~tcp_subject() override {
    here_.reset();
    if (base::wait_for_end(process_, std::chrono::seconds(5)).empty()) {
      base::kill_process(process_);
      static_cast<void>(base::wait_for_end(process_, std::chrono::seconds(5)));
    }
  }
  [[nodiscard]] transport& here() override { return *here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }
  [[nodiscard]] bool mortal() const override { return true; }
  void kill_peer() override { ::kill(process_.pid, SIGKILL); }

 private:
  base::heap memory_;
  recorder news_;
  base::process process_;
  std::unique_ptr<network> here_;
};

const join plaintext_joins("tcp_plaintext",
                           []() -> std::unique_ptr<subject> { return std::make_unique<tcp_subject>(security::none); });
const join tls_joins("tcp", []() -> std::unique_ptr<subject> {
  if (!tcp_module().why_insecure().empty()) return nullptr;
  return std::make_unique<tcp_subject>(security::by_ham);
});
const join openssl_joins("tcp_openssl_records", []() -> std::unique_ptr<subject> {
  if (!tcp_module().why_insecure().empty()) return nullptr;
  return std::make_unique<tcp_subject>(security::by_openssl);
});

/// A process that was started as a peer obeys and ends before any test begins.
const bool is_no_peer = [] {
  const char* const text = std::getenv(marker);
  if (text == nullptr) return true;
  const base::unique_fd told(std::atoi(text + 2));
  const auto what = static_cast<security>(text[0]);
  const auto waiting =
      tcp_module().listen({"127.0.0.1:0", key_if(what), false, std::chrono::seconds(3), records_of(what)});
  const std::string address = waiting->address();
  if (::write(told.get(), address.data(), address.size()) < 0) ::_exit(1);
  const auto host = waiting->wait();
  base::heap memory(base::heap::make_file());
  recorder news;
  {
    const auto at = host->join(&memory, news);
    obey(*at, memory, [&] { return !news.lost(0).empty(); });
  }
  ::_exit(0);
}();

}  // namespace
}  // namespace ham::transport::conformance
