// Threads that execute the same function at the same time: what targets are compared with.
#pragma once

#include <barrier>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace app {

class thread_team {
 public:
  /// One thread for each core; a core of -1: wherever the system puts it.
  explicit thread_team(const std::vector<int>& cores);
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  [[nodiscard]] std::size_t size() const { return threads_.size(); }
  /// Executes work(0) .. work(size() - 1), one on each thread, and waits for all. Throws what the first of them threw.
  void run(const std::function<void(std::size_t)>& work);

 private:
  std::barrier<> begin_;
  std::barrier<> end_;
  const std::function<void(std::size_t)>* work_ = nullptr;  // none: the team ends
  std::vector<std::exception_ptr> errors_;
  std::vector<std::jthread> threads_;
};

}  // namespace app
