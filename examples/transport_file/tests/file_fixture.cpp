// The file transport joins the conformance suite: the peer is this program, started again.
#include <signal.h>

#include "../host_transport.hpp"
#include "../unnamed_file.hpp"
#include "conformance/subject.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

class file_subject final : public subject {
 public:
  file_subject() : here_(0, news_) { here_.start({1, {"/proc/self/exe"}, {}}, file::usual_folder, 2, 2); }
  [[nodiscard]] transport& here() override { return here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }
  [[nodiscard]] bool mortal() const override { return true; }
  void kill_peer() override { ::kill(static_cast<pid_t>(here_.peer_pid(1)), SIGKILL); }

 private:
  recorder news_;
  file::host_transport here_;
};

const join file_joins("file", []() -> std::unique_ptr<subject> { return std::make_unique<file_subject>(); });

}  // namespace
}  // namespace ham::transport::conformance
