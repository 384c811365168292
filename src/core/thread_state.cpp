// What is global in the runtime.
#include "core/thread_state.hpp"

#include <atomic>
#include <utility>

#include "ham/offload/detail/late_answer.hpp"
#include "ham/offload/stop.hpp"

namespace ham::inline v1::detail {
namespace {
constinit std::atomic<engine*> the_process_engine{nullptr};
}  // namespace

constinit thread_local thread_state this_thread;

engine* current_or_null() noexcept { return this_thread.current != nullptr ? this_thread.current : process_engine(); }
engine* set_thread_engine(engine* at) noexcept { return std::exchange(this_thread.current, at); }
void set_process_engine(engine* at) noexcept { the_process_engine.store(at, std::memory_order_release); }
engine* process_engine() noexcept { return the_process_engine.load(std::memory_order_acquire); }

token_of_next_call::token_of_next_call(const std::stop_token* token) noexcept
    : before_(std::exchange(this_thread.next_token, token != nullptr && token->stop_possible() ? token : nullptr)),
      depth_(std::exchange(this_thread.token_depth, this_thread.depth)) {}
token_of_next_call::~token_of_next_call() {
  this_thread.next_token = before_;
  this_thread.token_depth = depth_;
}

owned_answers::owned_answers() noexcept : before_(std::exchange(this_thread.owned_depth, this_thread.depth)) {}
owned_answers::~owned_answers() { this_thread.owned_depth = before_; }

engine_scope::engine_scope(engine* at) noexcept : before_(set_thread_engine(at)) {}
engine_scope::~engine_scope() { this_thread.current = before_; }

}  // namespace ham::detail
