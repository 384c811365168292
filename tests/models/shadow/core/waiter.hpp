// Stands for src/core/waiter.hpp in the models: the receiving lock alone. Nobody sleeps.
#pragma once

#include <mutex>

namespace ham::inline v1::detail {

class waiter {
 public:
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  void wake_finished() noexcept {}
  void wake_if_asleep() noexcept {}

 private:
  std::mutex lock_;  // the biased lock has a model of its own
};

}  // namespace ham::detail
