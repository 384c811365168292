// Supervision of processes that are only played.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>

#include "job/played.hpp"
#include "job/supervisor.hpp"

namespace ham::test {

using namespace ham::detail;
using namespace std::chrono_literals;
using phase = replacements::phase;

template <class Done>
[[nodiscard]] bool eventually(Done done) {
  for (int i = 0; i < 20'000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

class supervised_nodes : public testing::Test, protected process_starter {
 protected:
  supervised_nodes() { live(1); }
  void TearDown() override { supervisor_.stop(); }  // its threads call this object

  void live(node_t process) {
    static_cast<void>(host_->peers.grow_to(static_cast<std::size_t>(process) + 1));
    host_->locked([&] { host_->peers.claim(process)->state.store(peer_state::ready); });
  }
  void die(node_t process, const std::string& why) {
    host_->locked([&] {
      host_->peers[process].about.set_loss(why);
      host_->peers[process].state.store(peer_state::lost);
      supervisor_.on_lost(process, why);
    });
  }
  [[nodiscard]] phase now() const { return host_->numbers.of(1).now; }
  [[nodiscard]] bool is_up(node_t process) {
    return eventually([&] { return now() == phase::up && host_->numbers.of(1).process == process; });
  }

  // ---- process_starter
  node_t start_again(node_t number) override {
    ++starts_;
    EXPECT_TRUE(number == 1 || number == 7);
    EXPECT_TRUE(this_thread.only_receives && this_thread.leaves_continuations) << "what it ran might wait for it";
    if (before_start_) before_start_();
    if (fails_) throw config_error("no start of it (its program is gone)");
    const node_t process = next_++;
    live(process);
    return process;
  }
  void end(node_t process) noexcept override { ended_ = process; }
  void end_lost(node_t process) noexcept override { ended_lost_ = process; }
  void announce_numbers() noexcept override { ++announced_; }

  mutable lone_node host_{0, 2};
  std::atomic<int> starts_{0}, announced_{0};
  std::atomic<bool> fails_{false};
  std::function<void()> before_start_;
  std::atomic<node_t> next_{2}, ended_{-1}, ended_lost_{-1};
  supervisor supervisor_{*host_, *this};
};

}  // namespace ham::test
