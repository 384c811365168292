// veo and vedma join the conformance suite over a stand-in for libveo: the peer is a library that it loads.
#include <signal.h>

#include <cstdlib>
#include <type_traits>

#include "conformance/subject.hpp"
#include "transport/vedma/host_transport.hpp"
#include "transport/veo/host_transport.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

template <class Host>
class engine_subject final : public subject {
 public:
  engine_subject() : here_(0, news_) { here_.start({1, 0, HAM_VEO_PEER}, 2); }
  /// Its obedience does not end by itself, and the host would wait for it a while.
  ~engine_subject() override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here_.peer_pid(1) < 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    kill_peer();
  }
  [[nodiscard]] transport& here() override { return here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }
  [[nodiscard]] bool mortal() const override { return true; }
  [[nodiscard]] bool leaves_traces() const override { return std::is_same_v<Host, vedma::host_transport>; }
  void kill_peer() override {
    if (here_.peer_pid(1) > 0) ::kill(static_cast<pid_t>(here_.peer_pid(1)), SIGKILL);
  }

 private:
  recorder news_;
  Host here_;
};

template <class Host>
std::unique_ptr<subject> make() {
  ::setenv("HAM_VEO_LIBRARY", HAM_VEO_STAND_IN, 0);
  return std::make_unique<engine_subject<Host>>();
}

const join veo_joins("veo", &make<veo::host_transport>);
const join vedma_joins("vedma", &make<vedma::host_transport>);

}  // namespace
}  // namespace ham::transport::conformance
