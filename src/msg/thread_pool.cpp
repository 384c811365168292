// The thread pool: one queue, one lock, threads that start with the first job.
#include "ham/msg/thread_pool.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/numbers.hpp"
#include "base/thread.hpp"

namespace ham::msg {

namespace {

/// The pool whose job the calling thread executes as one of its workers.
thread_local const thread_pool* worker_of = nullptr;

std::size_t default_threads() {
  if (const char* text = std::getenv("HAM_POOL_THREADS"); text != nullptr) {
    if (const auto number = base::parse_whole(text, 1, 4096)) return static_cast<std::size_t>(*number);
  }
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

}  // namespace

thread_pool::thread_pool(std::size_t threads) : size_(threads != 0 ? threads : default_threads()) {}

thread_pool::~thread_pool() { shutdown(); }

thread_pool& thread_pool::process() {
  // The pool itself is never destroyed: when a job calls exit(), the other threads still use it.
  struct owner {
    thread_pool* pool = new thread_pool;
    ~owner() { pool->shutdown(); }
  };
  static owner holder;
  // The threads of the pool do not exist in a child that is forked: it gets another one.
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { holder.pool = new thread_pool; });
  static_cast<void>(registered);
  return *holder.pool;
}

std::size_t thread_pool::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

void thread_pool::submit(std::unique_ptr<job> work) {
  {
    const std::lock_guard lock(mutex_);
    if (threads_.empty() && !stopping_) start_unlocked();
    job* added = work.release();
    (last_ != nullptr ? last_->next_ : first_) = added;
    last_ = added;
  }
  wake_.notify_one();
}

void thread_pool::start_unlocked() {
  threads_.reserve(size_);
  while (threads_.size() < size_) {
    try {
      threads_.push_back(base::start_thread([this] { work(); }));
    } catch (...) {
      if (threads_.empty()) throw;  // fewer threads than asked for still do the work
      return;
    }
  }
}

thread_pool::job* thread_pool::pop_unlocked() noexcept {
  job* taken = first_;
  if (taken == nullptr) return nullptr;
  first_ = taken->next_;
  if (first_ == nullptr) last_ = nullptr;
  return taken;
}

bool thread_pool::run_one() {
  std::unique_lock lock(mutex_);
  if (first_ == nullptr) return false;
  run_first(lock);
  return true;
}

void thread_pool::run_first(std::unique_lock<std::mutex>& lock) {
  std::unique_ptr<job> mine(pop_unlocked());
  ++busy_;
  lock.unlock();
  mine->run();
  mine.reset();
  lock.lock();
  --busy_;
  if (stopping_ && first_ == nullptr && busy_ == 0) wake_.notify_all();
}

void thread_pool::work() {
  worker_of = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return first_ != nullptr || (stopping_ && busy_ == 0); });
    if (first_ == nullptr) return;
    run_first(lock);
  }
}

void thread_pool::shutdown() {
  if (worker_of == this) return;
  const std::lock_guard one_at_a_time(shutdown_mutex_);
  std::vector<std::thread> ending;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ending.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : ending) thread.join();
  // What others submitted after the last thread had left is run here: nothing may lie in the queue without a thread.
  std::unique_lock lock(mutex_);
  while (first_ != nullptr) run_first(lock);
  stopping_ = false;
}

void thread_pool::resize(std::size_t threads) {
  {
    const std::lock_guard lock(mutex_);
    size_ = std::max<std::size_t>(1, threads);
  }
  shutdown();
}

}  // namespace ham::msg
