// The processes of emulated GPUs join the conformance suite: the peer is this program, started again.
#include <signal.h>

#include "conformance/subject.hpp"
#include "transport/cuda/host_transport.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

class cuda_subject final : public subject {
 public:
  cuda_subject() : memory_(base::heap::make_file()), here_("cuda-emulated", 0, memory_.fd(), news_) {
    here_.start({{{1, {"/proc/self/exe"}, {}}, cuda::geometry{.memory = cuda::memory_kind::shared}}}, 2);
  }
  [[nodiscard]] transport& here() override { return here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }
  [[nodiscard]] bool mortal() const override { return true; }
  void kill_peer() override { ::kill(static_cast<pid_t>(here_.peer_pid(1)), SIGKILL); }

 private:
  base::heap memory_;
  recorder news_;
  cuda::host_transport here_;
};

const join cuda_joins("cuda_emulated", []() -> std::unique_ptr<subject> { return std::make_unique<cuda_subject>(); });

}  // namespace
}  // namespace ham::transport::conformance
