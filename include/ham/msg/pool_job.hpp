// A unit of work for the thread pool, for code that makes jobs but needs nothing else of the pool.
#pragma once

namespace ham::inline v1::msg {

class thread_pool;

/// One unit of work, and its link in the queue. Destroyed after it has run.
class pool_job {
 public:
  pool_job() = default;
  pool_job(const pool_job&) = delete;
  pool_job& operator=(const pool_job&) = delete;
  virtual ~pool_job() = default;
  virtual void run() noexcept = 0;

 private:
  friend class thread_pool;
  pool_job* next_ = nullptr;
};

namespace detail {
/// Appends a job to the queue of thread_pool::process(), which owns it from now on; if that throws, it is destroyed.
void submit_to_process_pool(pool_job* owned);
}  // namespace detail

}  // namespace ham::msg
