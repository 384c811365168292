// Two barriers around each piece of work.
#include "common/thread_team.hpp"

#include <utility>

#include "common/cores.hpp"

namespace app {

thread_team::thread_team(const std::vector<int>& cores)
    : begin_(static_cast<std::ptrdiff_t>(cores.size()) + 1),
      end_(static_cast<std::ptrdiff_t>(cores.size()) + 1),
      errors_(cores.size()) {
  for (std::size_t index = 0; index < cores.size(); ++index) {
    threads_.emplace_back([this, index, core = cores[index]] {
      if (core >= 0) stay_on(core);
      for (;;) {
        begin_.arrive_and_wait();
        if (work_ == nullptr) return;
        try {
          (*work_)(index);
        } catch (...) {
          errors_[index] = std::current_exception();
        }
        end_.arrive_and_wait();
      }
    });
  }
}

thread_team::~thread_team() {
  work_ = nullptr;
  begin_.arrive_and_wait();
}

void thread_team::run(const std::function<void(std::size_t)>& work) {
  work_ = &work;
  begin_.arrive_and_wait();
  end_.arrive_and_wait();
  for (std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
}

}  // namespace app
