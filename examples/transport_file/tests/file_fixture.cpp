// The file transport joins the conformance suite: the peer is this program, started again.
#include <signal.h>

#include <cstdlib>
#include <string_view>

#include "../host_transport.hpp"
#include "../target_transport.hpp"
#include "../unnamed_file.hpp"
#include "conformance/subject.hpp"

namespace ham::transport::conformance {
namespace {

class file_subject final : public subject {
 public:
  file_subject() : here_(news_) { here_.start({1, {"/proc/self/exe"}, {}}, file::usual_folder, 2, 2); }
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

/// A process that was started as a target obeys and ends before any test begins.
const bool is_no_file_target = [] {
  const char* const text = std::getenv("HAM_TARGET");
  if (text == nullptr || !std::string_view(text).starts_with("file:")) return true;
  file::invitation invitation = file::invitation::accept(std::atoi(text + 5));
  base::heap memory(base::heap::make_file());
  recorder news;
  {
    file::target_transport at(std::move(invitation), news);
    at.join();
    obey(at, memory, [&] { return !news.lost(0).empty(); });
  }
  ::_exit(0);
}();

}  // namespace
}  // namespace ham::transport::conformance
