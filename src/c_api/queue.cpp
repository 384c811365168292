// Completion queues: calls put their ends into them where progress is made.
#include "c_api/queue.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "c_api/status.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v0::c_api {
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
    ham::c_api::start_call(ham::c_api::bounded(node, timeout_ms), name, bytes)
        .on_result([state = queue->state, id](ham::offload::future<ham::c_api::bytes> call) {
          state->add(ham::c_api::end_of(call, id));
        });
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
    return *completion == nullptr ? HAM_NOT_YET : HAM_OK;
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
