// The thread pool behind the execution policy `pooled`.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace ham::msg {

/// Runs jobs in order of submission on a fixed number of threads, which start with the first job. Unbounded queue.
/// All members may be called from any thread; jobs may submit jobs.
class thread_pool {
 public:
  /// One unit of work, and its link in the queue. Destroyed after it has run.
  class job {
   public:
    job() = default;
    job(const job&) = delete;
    job& operator=(const job&) = delete;
    virtual ~job() = default;
    virtual void run() noexcept = 0;

   private:
    friend class thread_pool;
    job* next_ = nullptr;
  };

  /// @param threads 0 means HAM_POOL_THREADS if that is a number from 1 to 4096, else one per core.
  explicit thread_pool(std::size_t threads = 0);
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  /// Does what shutdown() does. Not to be called from a job of the pool.
  ~thread_pool();

  /// The pool of this process, used by execution_policy_pooled. Drained at the end of the process.
  [[nodiscard]] static thread_pool& process();

  /// Appends a job; blocks only for the lock of the queue. Throws std::system_error if the first thread cannot start.
  void submit(std::unique_ptr<job> work);

  /// Appends a call of `function`, which is moved or copied into the job. One allocation. An exception that leaves
  /// `function` ends the process.
  template <class Function>
  requires(std::is_invocable_v<std::decay_t<Function>&>) void submit(Function&& function) {
    using wrapped = function_job<std::decay_t<Function>>;
    submit(std::unique_ptr<job>(std::make_unique<wrapped>(std::in_place, std::forward<Function>(function))));
  }

  /// Executes one queued job in the calling thread; false if there is none. For threads that wait for pooled work.
  bool run_one();

  /// Waits until every job submitted so far, and every job those submit, is done, and ends the threads. A later submit
  /// starts them again. Does nothing when called from a job on a thread of this pool, which cannot wait for itself.
  void shutdown();

  /// Changes the number of threads (at least 1): drains like shutdown(), then the next submit starts that many. Called
  /// from a job, the change counts from the next shutdown on.
  void resize(std::size_t threads);

  /// Number of threads that serve, or will serve, the queue.
  [[nodiscard]] std::size_t size() const;

 private:
  template <class Function>
  struct function_job final : job {
    template <class Source>
    explicit function_job(std::in_place_t, Source&& from) : function(std::forward<Source>(from)) {}
    void run() noexcept override { function(); }
    Function function;
  };

  void start_unlocked();
  void work();
  job* pop_unlocked() noexcept;
  void run_first(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::mutex shutdown_mutex_;         // one shutdown or resize at a time
  std::vector<std::thread> threads_;  // guarded by mutex_
  job* first_ = nullptr;
  job* last_ = nullptr;
  std::size_t size_;
  std::size_t busy_ = 0;  // jobs being executed
  bool stopping_ = false;
};

}  // namespace ham::msg
