// Loopback joins the conformance suite: the peer is a thread.
#include <atomic>

#include "conformance/subject.hpp"
#include "transport/loopback/transport.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

class loopback_subject final : public subject {
 public:
  loopback_subject() {
    obeying_ = std::thread([this] { obey(there_, there_memory_, [this] { return stop_.load(); }); });
    here_.connect(1);
  }
  ~loopback_subject() override {
    stop_ = true;
    there_.wake();
    obeying_.join();
  }
  [[nodiscard]] transport& here() override { return here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }

 private:
  std::shared_ptr<loopback::cluster> job_ = std::make_shared<loopback::cluster>(2);
  base::heap here_memory_{base::heap::make_file()};
  base::heap there_memory_{base::heap::make_file()};
  recorder news_;
  recorder their_news_;
  loopback::node_transport here_{job_, 0, &here_memory_, news_};
  loopback::node_transport there_{job_, 1, &there_memory_, their_news_};
  std::atomic<bool> stop_{false};
  std::thread obeying_;
};

const join loopback_joins("loopback",
                          []() -> std::unique_ptr<subject> { return std::make_unique<loopback_subject>(); });

}  // namespace
}  // namespace ham::transport::conformance
