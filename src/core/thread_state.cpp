// What is global in the runtime.
#include "core/thread_state.hpp"

#include <atomic>
#include <utility>

namespace ham::inline v1::detail {
namespace {
constinit std::atomic<engine*> the_process_engine{nullptr};
}  // namespace

constinit thread_local thread_state this_thread;

engine* current_or_null() noexcept { return this_thread.current != nullptr ? this_thread.current : process_engine(); }
engine* set_thread_engine(engine* at) noexcept { return std::exchange(this_thread.current, at); }
void set_process_engine(engine* at) noexcept { the_process_engine.store(at, std::memory_order_release); }
engine* process_engine() noexcept { return the_process_engine.load(std::memory_order_acquire); }

engine_scope::engine_scope(engine* at) noexcept : before_(set_thread_engine(at)) {}
engine_scope::~engine_scope() { this_thread.current = before_; }

}  // namespace ham::detail
