// The emulated PCIe link joins the conformance suite with both protocols: the peer is this program, started again.
#include <signal.h>

#include <cstdlib>
#include <string_view>

#include "conformance/subject.hpp"
#include "transport/emulated/host_transport.hpp"
#include "transport/emulated/target_transport.hpp"

namespace ham::transport::conformance {
namespace {

class emulated_subject final : public subject {
 public:
  explicit emulated_subject(const char* settings) : memory_(base::heap::make_file()), here_(memory_.fd(), news_) {
    here_.start({{{1, {"/proc/self/exe"}, {}}, emulated::parse_medium(settings)}}, 2);
  }
  [[nodiscard]] transport& here() override { return here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }
  [[nodiscard]] bool mortal() const override { return true; }
  void kill_peer() override { ::kill(static_cast<pid_t>(here_.peer_pid(1)), SIGKILL); }

 private:
  base::heap memory_;
  recorder news_;
  emulated::host_transport here_;
};

const join target_initiated_joins("emulated", []() -> std::unique_ptr<subject> {
  return std::make_unique<emulated_subject>("initiator=target");
});
const join host_initiated_joins("emulated_host_initiated", []() -> std::unique_ptr<subject> {
  return std::make_unique<emulated_subject>("initiator=host");
});
/// As veo_write_mem: a write returns when it has arrived, so that not every message taken is told of.
const join blocking_joins("emulated_blocking_writes", []() -> std::unique_ptr<subject> {
  return std::make_unique<emulated_subject>("initiator=host/posted=no");
});

/// A process that was started as a target obeys and ends before any test begins.
const bool is_no_emulated_target = [] {
  const char* const text = std::getenv("HAM_TARGET");
  if (text == nullptr || !std::string_view(text).starts_with("emulated:")) return true;
  emulated::invitation invitation = emulated::invitation::accept(std::atoi(text + 9));
  base::heap memory(std::move(invitation.own_heap));
  recorder news;
  {
    emulated::target_transport at(std::move(invitation), news);
    at.join();
    obey(at, memory, [&] { return !news.lost(0).empty(); });
  }
  ::_exit(0);
}();

}  // namespace
}  // namespace ham::transport::conformance
