// The thread pool: one queue, one lock, threads that start with the first job.
#include "ham/msg/thread_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <system_error>

#include "base/immortal.hpp"
#include "base/renew.hpp"
#include "base/settings.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"
#include "msg/pool_thread.hpp"

namespace ham::inline v1::msg {

namespace {

constexpr std::chrono::seconds spare_lasts{1};  // without a job
/// How deep waits of the calling thread are inside each other.
constinit thread_local unsigned waits = 0;

std::size_t default_threads() {
  try {
    if (const auto number = base::number_of(base::setting::pool_threads)) return static_cast<std::size_t>(*number);
  } catch (const config_error&) {
    // The start of a runtime says what is wrong with it.
  }
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

}  // namespace

constinit thread_local thread_pool* pool_of_this_thread = nullptr;

thread_pool::thread_pool(std::size_t threads) : size_(threads != 0 ? threads : default_threads()) {}

thread_pool::~thread_pool() { shutdown(); }

thread_pool& thread_pool::process() {
  // The pool itself is never destroyed: when a job calls exit(), the other threads still use it.
  struct owner {
    thread_pool* pool = &base::immortal<thread_pool>();
    ~owner() { pool->shutdown(); }
  };
  static owner holder;
  // The threads of the pool do not exist in a child that is forked: the pool is made anew there.
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    base::renew(*holder.pool);
    pool_of_this_thread = nullptr;
  });
  static_cast<void>(registered);
  return *holder.pool;
}

void detail::submit_to_process_pool(pool_job* owned) {
  std::unique_ptr<pool_job> work(owned);
  thread_pool::process().submit(std::move(work));
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
    reinforce_unlocked();
  }
  wake_.notify_one();
}

void thread_pool::start_unlocked() {
  threads_.reserve(size_);
  while (threads_.size() < size_) {
    if (start_one_unlocked()) continue;
    if (threads_.empty()) throw std::system_error(EAGAIN, std::generic_category(), base::no_thread);
    return;  // fewer threads than asked for still do the work
  }
}

bool thread_pool::start_one_unlocked() noexcept {
  try {
    threads_.reserve(threads_.size() + 1);
    threads_.push_back(base::start_thread([this] { work(); }));
    ++idle_;
    return true;
  } catch (...) {
    return false;  // waiting threads help themselves
  }
}

/// A job may run, and no thread has time for it because others wait: one more.
void thread_pool::reinforce_unlocked() noexcept {
  const bool spare = idle_ == 0 && waiting_ != 0 && !leaving_ && threads_.size() < size_ + max_spares;
  if (spare && may_run_unlocked()) static_cast<void>(start_one_unlocked());
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
  reinforce_unlocked();
  lock.unlock();
  mine->run();
  mine.reset();
  lock.lock();
  --busy_;
  if (stopping_ && first_ == nullptr && busy_ == 0) {
    wake_.notify_all();
    done_.notify_all();
  }
}

void thread_pool::work() {
  pool_of_this_thread = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto wanted = [this] { return may_run_unlocked() || (leaving_ && first_ == nullptr && busy_ == 0); };
    if (threads_.size() <= size_)
      wake_.wait(lock, wanted);
    else if (!wake_.wait_for(lock, spare_lasts, wanted) && !leave_unlocked())
      continue;
    --idle_;
    if (!may_run_unlocked()) return;
    ++serving_;
    run_first(lock);
    --serving_;
    ++idle_;
  }
}

/// A spare that nobody has needed for a while goes. False: the calling thread is none.
bool thread_pool::leave_unlocked() {
  if (threads_.size() <= size_ || stopping_) return false;
  const auto self = std::find_if(threads_.begin(), threads_.end(),
                                 [](const std::thread& one) { return one.get_id() == std::this_thread::get_id(); });
  std::vector<std::thread> before;
  before.swap(ended_);
  ended_.push_back(std::move(*self));
  threads_.erase(self);
  join(before);  // they have left this function already, or are about to
  return true;
}

void thread_pool::join(std::vector<std::thread>& ended) {
  for (std::thread& thread : ended) thread.join();
}

void thread_pool::shutdown() {
  if (pool_of_this_thread == this) return;
  const std::lock_guard one_at_a_time(shutdown_mutex_);
  std::unique_lock lock(mutex_);
  stopping_ = true;
  while (!threads_.empty() || first_ != nullptr) {
    // What others submitted after the last thread had left is run here: nothing may lie in the queue without a thread.
    if (threads_.empty()) {
      run_first(lock);
      continue;
    }
    // Until then further threads may have to start in place of waiting ones. The threads stay as well: a job that is
    // submitted before this one has the lock again counts on those in the list.
    done_.wait(lock, [this] { return first_ == nullptr && busy_ == 0; });
    std::vector<std::thread> ending;
    ending.swap(threads_);
    std::move(ended_.begin(), ended_.end(), std::back_inserter(ending));
    ended_.clear();
    leaving_ = true;
    lock.unlock();
    wake_.notify_all();
    join(ending);
    lock.lock();
    leaving_ = false;
  }
  stopping_ = false;
}

thread_pool::waiting::waiting() noexcept : pool_(pool_of_this_thread), outermost_(waits++ == 0) {
  if (pool_ == nullptr || !outermost_) return;
  const std::lock_guard lock(pool_->mutex_);
  ++pool_->waiting_;
  pool_->reinforce_unlocked();
  if (pool_->may_run_unlocked()) pool_->wake_.notify_one();
}

thread_pool::waiting::~waiting() {
  --waits;
  if (pool_ == nullptr || !outermost_) return;
  const std::lock_guard lock(pool_->mutex_);
  --pool_->waiting_;
}

bool thread_pool::waiting::starved() const noexcept {
  if (pool_ == nullptr) return false;
  const std::lock_guard lock(pool_->mutex_);
  pool_->reinforce_unlocked();
  return pool_->idle_ == 0 && pool_->may_run_unlocked();
}

bool thread_pool::waiting::help() { return pool_ != nullptr && pool_->run_one(); }

void thread_pool::resize(std::size_t threads) {
  {
    const std::lock_guard lock(mutex_);
    size_ = std::max<std::size_t>(1, threads);
  }
  shutdown();
}

}  // namespace ham::msg
