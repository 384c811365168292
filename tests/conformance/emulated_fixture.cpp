// The emulated PCIe link joins the conformance suite with both protocols: the peer is this program, started again.
#include <signal.h>

#include "conformance/subject.hpp"
#include "transport/emulated/host_transport.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

class emulated_subject final : public subject {
 public:
  explicit emulated_subject(const char* settings) : memory_(base::heap::make_file()), here_(0, memory_.fd(), news_) {
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

}  // namespace
}  // namespace ham::transport::conformance
