// Shared memory joins the conformance suite: the peer is this program, started again.
#include <signal.h>

#include "conformance/subject.hpp"
#include "transport/shm/host_transport.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

class shm_subject final : public subject {
 public:
  shm_subject() : memory_(base::heap::make_file()), here_(shm::host_transport::make(0, memory_.fd(), news_)) {
    std::vector<shm::target_plan> plans(1);
    plans[0].node = 1;
    plans[0].command = {"/proc/self/exe"};
    here_->start(std::move(plans), 2);
  }
  [[nodiscard]] transport& here() override { return *here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }
  [[nodiscard]] bool mortal() const override { return true; }
  void kill_peer() override { ::kill(static_cast<pid_t>(here_->peer_pid(1)), SIGKILL); }

 private:
  base::heap memory_;
  recorder news_;
  std::unique_ptr<shm::host_transport> here_;
};

const join shm_joins("shm", []() -> std::unique_ptr<subject> { return std::make_unique<shm_subject>(); });

}  // namespace
}  // namespace ham::transport::conformance
