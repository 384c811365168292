// The simulated network joins the conformance suite, without a simulation: the peer is a thread.
#include <atomic>

#include "conformance/subject.hpp"
#include "transport/sim/plain_director.hpp"
#include "transport/sim/transport.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

class sim_subject final : public subject {
 public:
  sim_subject() {
    obeying_ = std::thread([this] { obey(there_, there_memory_, [this] { return stop_.load(); }); });
    here_.connect(1);
  }
  ~sim_subject() override {
    stop_ = true;
    there_.wake();
    obeying_.join();
  }
  [[nodiscard]] transport& here() override { return here_; }
  [[nodiscard]] node_t peer() override { return 1; }
  [[nodiscard]] recorder& news() override { return news_; }

 private:
  sim::plain_director director_;
  sim::network network_{director_};
  base::heap here_memory_{base::heap::make_file()};
  base::heap there_memory_{base::heap::make_file()};
  recorder news_;
  recorder their_news_;
  sim::node_transport here_{network_, 0, &here_memory_, news_};
  sim::node_transport there_{network_, 1, &there_memory_, their_news_};
  std::atomic<bool> stop_{false};
  std::thread obeying_;
};

const join sim_joins("sim", []() -> std::unique_ptr<subject> { return std::make_unique<sim_subject>(); });

}  // namespace
}  // namespace ham::transport::conformance
