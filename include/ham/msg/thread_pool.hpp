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

#include "ham/msg/pool_job.hpp"

namespace ham::inline v1::msg {

/// Runs jobs in order of submission on a number of threads, which start with the first job. While a job waits
/// (thread_pool::waiting), another thread takes its place: jobs may wait for jobs behind them. Unbounded queue; the
/// pooled calls of ham::offload are bounded by their node. All members may be called from any thread; jobs may submit
/// jobs.
class thread_pool {
 public:
  /// Threads in place of waiting ones, at most. When that many wait, waiting ones execute queued jobs (help()).
  static constexpr std::size_t max_spares = 256;

  using job = pool_job;  ///< submit() takes any class derived from it

  /// Starts no thread yet. `threads`: 0 means HAM_POOL_THREADS if that is a number from 1 to 4096, else one per core.
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

  /// Says, while it lives, that the job which the calling thread executes waits for something: if jobs are queued,
  /// another thread of the pool executes them. May be nested. Does nothing on threads that are not of a pool.
  class waiting {
   public:
    /// By the thread that waits, which also ends it.
    waiting() noexcept;
    ~waiting();
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;

    /// True if jobs are queued that no other thread will execute before one that waits: none can be started any more.
    [[nodiscard]] bool starved() const noexcept;
    /// Executes one of them inside the wait; false if there is none.
    bool help();

   private:
    thread_pool* pool_;  ///< nullptr: the thread is of none
    bool outermost_;
  };

  /// Waits until every job submitted so far, and every job those submit, is done, and ends the threads. A later submit
  /// starts them again. Does nothing when called from a job on a thread of this pool, which cannot wait for itself.
  void shutdown();

  /// Changes the number of threads (at least 1): drains like shutdown(), then the next submit starts that many. Called
  /// from a job, the change counts from the next shutdown on.
  void resize(std::size_t threads);

  /// Number of jobs that are executed at once, not counting those that wait.
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
  bool start_one_unlocked() noexcept;
  void reinforce_unlocked() noexcept;
  [[nodiscard]] bool may_run_unlocked() const noexcept { return first_ != nullptr && serving_ - waiting_ < size_; }
  void work();
  bool leave_unlocked();
  static void join(std::vector<std::thread>& ended);
  job* pop_unlocked() noexcept;
  void run_first(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::mutex shutdown_mutex_;  // one shutdown or resize at a time
  std::condition_variable done_;
  std::vector<std::thread> threads_;  // guarded by mutex_, as all below
  std::vector<std::thread> ended_;    // spares that have gone, to be joined
  job* first_ = nullptr;
  job* last_ = nullptr;
  std::size_t size_;
  std::size_t busy_ = 0;     // jobs being executed
  std::size_t serving_ = 0;  // threads of the pool that execute one
  std::size_t waiting_ = 0;  // of them those that wait
  std::size_t idle_ = 0;     // threads without a job
  bool stopping_ = false;    // shutdown() is under way: no thread starts for a first job
  bool leaving_ = false;     // it has taken the threads, which end as soon as there is nothing to do
};

}  // namespace ham::msg
