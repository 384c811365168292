// Completion queues: calls put their ends into them where progress is made.
#include "c_api/queue.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "c_api/status.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "ham/offload/stop.hpp"

namespace ham::inline v1::c_api {
namespace {

std::unique_ptr<completion> end_of(offload::future<bytes>& call, std::uint64_t id) {
  const kept_error of_thread;  // which is in a function that perhaps does not fail
  auto end = std::make_unique<completion>();
  end->id = id;
  end->status = guarded([&] {
    end->value = call.get();
    return HAM_OK;
  });
  if (end->status == HAM_OK) {
    end->outcome = HAM_NOT_RUN;
    end->function_code = 0;
    end->result = end->value.data();
    end->bytes = end->value.size();
  } else {
    end->outcome = ham_error_outcome();
    end->function_code = ham_error_function_code();
    end->text = ham_error_message();
    end->result = end->text.c_str();
    end->bytes = end->text.size();
  }
  return end;
}

/// In the list of its queue as long as copies of it live.
class listed_call {
 public:
  listed_call(std::shared_ptr<completion_queue> in, std::uint64_t id) : in_(std::move(in)), entry_(in_->list(id)) {}
  ~listed_call() { in_->unlist(entry_); }
  listed_call(const listed_call&) = delete;
  listed_call& operator=(const listed_call&) = delete;
  [[nodiscard]] std::stop_token token() const { return entry_->source.get_token(); }

 private:
  std::shared_ptr<completion_queue> in_;
  completion_queue::entries::iterator entry_;
};

void start_queued(const offload::destination& to, std::string_view name, std::span<const std::byte> argument,
                  const std::shared_ptr<completion_queue>& into, std::uint64_t id) {
  std::shared_ptr<listed_call> listed;
  if (to.deadline_ns != 0) listed = std::make_shared<listed_call>(into, id);
  const std::stop_token token = listed ? listed->token() : std::stop_token();
  const detail::token_of_next_call ends_wait(&token);
  auto call = start_call(to, name, argument);
  if (listed)
    detail::stop_link::attach(*offload::detail::future_access::slot(call), token, offload::when_stopped::after_answer);
  std::move(call).on_result([into, listed, id](offload::future<bytes> ended) { into->add(end_of(ended, id)); });
}

}  // namespace

void completion_queue::settle(detail::call_slot* sleeper) noexcept {
  if (sleeper != nullptr) detail::settle_local(*sleeper, detail::slot_state::value);
}

void completion_queue::add(std::unique_ptr<completion> what) {
  detail::call_slot* sleeper = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    ended_.push_back(std::move(what));
    if (!sleepers_.empty()) {
      sleeper = sleepers_.back();
      sleepers_.pop_back();
    }
  }
  settle(sleeper);  // outside of the lock: it may run what adds the next one
}

void completion_queue::wake() {
  detail::call_slot* sleeper = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    ++wakes_;
    if (!sleepers_.empty()) {
      sleeper = sleepers_.back();
      sleepers_.pop_back();
    }
  }
  settle(sleeper);
}

completion_queue::entries::iterator completion_queue::list(std::uint64_t id) {
  entries fresh;
  fresh.push_back({id, std::stop_source()});
  const std::scoped_lock lock(mutex_);
  const auto entry = fresh.begin();
  stoppable_.splice(stoppable_.end(), fresh);
  return entry;
}

void completion_queue::unlist(entries::iterator entry) {
  entries last;
  const std::scoped_lock lock(mutex_);
  last.splice(last.end(), stoppable_, entry);
}

bool completion_queue::stop(std::uint64_t id) {
  std::vector<std::stop_source> found;
  {
    const std::scoped_lock lock(mutex_);
    for (const stoppable_entry& entry : stoppable_) {
      if (entry.id == id) found.push_back(entry.source);
    }
  }
  for (std::stop_source& source : found) source.request_stop();  // outside of the lock: it may end the call
  return !found.empty();
}

/// With the lock. Whether the wait is over.
bool completion_queue::take(std::unique_ptr<completion>& what) {
  if (!ended_.empty()) {
    what = std::move(ended_.front());
    ended_.pop_front();
    return true;
  }
  if (wakes_ == 0) return false;
  --wakes_;
  return true;
}

/// If the slot is in the list no more, somebody settles it.
void completion_queue::stop_sleeping(detail::call_slot* slot) {
  {
    const std::scoped_lock lock(mutex_);
    const auto at = std::find(sleepers_.begin(), sleepers_.end(), slot);
    if (at == sleepers_.end()) return;
    sleepers_.erase(at);
  }
  settle(slot);
}

std::unique_ptr<completion> completion_queue::next(std::int64_t timeout_ms) {
  const std::int64_t end_ns =
      timeout_ms < 0 ? INT64_MAX : offload::detail::time_from_now(std::chrono::milliseconds(timeout_ms));
  detail::engine& at = detail::current();
  std::unique_ptr<completion> what;
  for (bool last = timeout_ms == 0;;) {
    detail::call_slot* const slot = detail::make_local_slot(at);
    const offload::future<void> sleep = offload::detail::future_access::make<void>(slot);
    bool over = false;
    {
      const std::scoped_lock lock(mutex_);
      over = take(what) || last;
      if (!over) sleepers_.push_back(slot);
    }
    if (over) {
      settle(slot);
      return what;
    }
    if (!detail::wait_slot(*slot, end_ns)) {
      stop_sleeping(slot);
      last = true;
    }
  }
}

}  // namespace ham::c_api

int ham_queue_create(ham_queue** queue) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(queue, "the place of the queue");
    *queue = nullptr;
    *queue = new ham_queue{std::make_shared<ham::c_api::completion_queue>()};
    return HAM_OK;
  });
}

void ham_queue_release(ham_queue** queue) {
  if (queue != nullptr) delete std::exchange(*queue, nullptr);
}

int ham_call_queued(ham_node node, const char* name, const void* argument, size_t size, int64_t timeout_ms,
                    ham_queue* queue, uint64_t id) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(name, "the name");
    ham::c_api::require(queue, "the queue");
    if (size != 0) ham::c_api::require(argument, "the argument");
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(argument), size);
    ham::c_api::start_queued(ham::c_api::bounded(node, timeout_ms), name, bytes, queue->state, id);
    return HAM_OK;
  });
}

int ham_queue_next(ham_queue* queue, int64_t timeout_ms, ham_completion** completion) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(queue, "the queue");
    ham::c_api::require(completion, "the place of the completion");
    *completion = nullptr;
    const auto state = queue->state;
    *completion = state->next(timeout_ms).release();
    if (*completion != nullptr) return static_cast<int>(HAM_OK);
    return ham::c_api::fail(HAM_NOT_YET, "no call of this queue has ended yet");
  });
}

int ham_queue_stop(ham_queue* queue, uint64_t id) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(queue, "the queue");
    const auto state = queue->state;
    if (state->stop(id)) return static_cast<int>(HAM_OK);
    return ham::c_api::fail(HAM_NOT_YET, "no call of this id can be stopped");
  });
}

int ham_queue_wake(ham_queue* queue) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(queue, "the queue");
    queue->state->wake();
    return HAM_OK;
  });
}

void ham_completion_release(ham_completion** completion) {
  if (completion != nullptr) delete static_cast<ham::c_api::completion*>(std::exchange(*completion, nullptr));
}
