// What received calls of all types share.
#include "ham/offload/detail/call_message.hpp"

#include <cstddef>
#include <vector>

#include "core/thread_state.hpp"
#include "runtime/executing.hpp"

namespace ham::inline v0::detail {
namespace {

/// Calls that the thread executes for a policy: they count for no node's nesting.
constinit thread_local unsigned kept_calls = 0;

}  // namespace

bool executes_something() noexcept {
  return this_thread.depth != 0 || this_thread.context != nullptr || kept_calls != 0;
}

/// A call with its bytes, for copies.
struct received_call_base::kept {
  explicit kept(const incoming_call& from) : call(from), bytes(from.payload.begin(), from.payload.end()) {
    call.payload = bytes;
    share_call(call);
  }
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  ~kept() { unshare_call(call); }
  incoming_call call;
  std::vector<std::byte> bytes;
};

received_call_base::received_call_base(const received_call_base& other)
    : call_(nullptr), kept_(new kept(*other.call_)) {
  call_ = &kept_->call;
}

void received_call_base::give_up() noexcept { delete kept_; }

void received_call_base::run(call_body body) {
  const bool kept = kept_ != nullptr;
  kept_calls += kept ? 1 : 0;
  try {
    if (!kept) {
      body(*call_);
    } else {  // on a thread that works for no runtime in particular
      const engine_scope scope(call_->at);
      body(*call_);
    }
  } catch (...) {
    call_failed(*call_);
  }
  kept_calls -= kept ? 1 : 0;
}

void call_failed(incoming_call& call) noexcept {
  if (!call.decoded) {
    try {
      throw;
    } catch (const protocol_error& problem) {
      reject_call(call, problem.what());
      return;
    } catch (...) {  // of a user's codec
    }
  }
  reply_exception(call);
}

}  // namespace ham::detail
