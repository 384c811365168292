// The ends of many calls, for programs in C that wait for whichever comes first.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "c_api/future.hpp"
#include "ham/ham.h"

namespace ham::inline v1::c_api {

/// A completion, with the memory that it points to.
struct completion : ham_completion {
  c_api::bytes value;
  std::string text;
};

/// A call that can be stopped: listed from before it is made until its end has been handled.
struct stoppable_entry {
  std::uint64_t id;
  std::stop_source source;
};

/// Shared by its owner and the calls that have not ended. Any thread.
class completion_queue {
 public:
  void add(std::unique_ptr<completion> what);
  void wake();
  using entries = std::list<stoppable_entry>;
  [[nodiscard]] entries::iterator list(std::uint64_t id);
  void unlist(entries::iterator entry);
  /// False: no call of this id is listed.
  [[nodiscard]] bool stop(std::uint64_t id);
  /// nullptr after `timeout_ms`, or for wake(). Makes progress meanwhile; throws as ham::detail::current().
  [[nodiscard]] std::unique_ptr<completion> next(std::int64_t timeout_ms);

 private:
  [[nodiscard]] bool take(std::unique_ptr<completion>& what);
  void stop_sleeping(detail::call_slot* slot);
  static void settle(detail::call_slot* sleeper) noexcept;

  std::mutex mutex_;
  std::deque<std::unique_ptr<completion>> ended_;
  entries stoppable_;
  std::vector<detail::call_slot*> sleepers_;  // one for each thread that waits
  std::uint64_t wakes_ = 0;                   // that no thread has returned for
};

}  // namespace ham::c_api

struct ham_queue {
  std::shared_ptr<ham::c_api::completion_queue> state;
};
