// A call that is sent again when its process has died; it waits for the next one without a thread.
#include "ham/offload/retry.hpp"

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "core/node_loss.hpp"
#include "core/replacements.hpp"
#include "core/thread_state.hpp"
#include "ham/error_info.hpp"
#include "ham/offload/stop.hpp"
#include "runtime/engine.hpp"
#include "runtime/repeatable_call.hpp"
#include "runtime/stop_with_caller.hpp"

namespace ham::inline v1::offload::detail {
namespace {

/// Once it was sent it owns itself, until its result is handed over.
class retried_call final : ham::detail::continuation {
 public:
  retried_call(const retried_destination& to, repeatable_call what)
      : continuation{&on_settled}, to_(to.where()), left_(to.times()), what_(std::move(what)) {
    to_.deadline_ns = ham::detail::deadline_within_caller(to_.deadline_ns);
  }

  [[nodiscard]] static call_slot* begin(std::unique_ptr<retried_call> task) {
    engine& at = engine_for(task->to_);
    call_slot& target = *make_local_slot(at);
    task->target_ = &target;
    if (at.numbers.any() && at.numbers.of(task->to_.node).prepared) task->left_ = 0;  // what waited for it would end it
    if (const std::stop_token* const token = ham::detail::this_thread.take_token()) task->token_ = *token;
    try {
      list_repeated(target, task->what_);
      for (bool sent = false; !sent;) {
        try {
          task->send(at);
          sent = true;
        } catch (const node_failure&) {
          if (!task->goes_on(at)) throw;
        }
      }
    } catch (...) {
      unlist_repeated(target);
      at.calls.cancel(target);
      throw;
    }
    retried_call& sent = *task.release();
    attach(*sent.call_, &sent);
    return &target;
  }

 private:
  static void on_settled(continuation* self) { static_cast<retried_call*>(self)->settled(); }
  static void on_awaited(continuation* self) { static_cast<retried_call*>(self)->conclude(); }
  static void on_decided(continuation* self) { static_cast<retried_call*>(self)->send_again(); }

  void send(engine& at) {
    const ham::detail::token_of_next_call ends_wait(&token_);
    call_ = send_repeatable(at, to_, what_, when_full::wait);
    note_sent(*target_, *call_);
  }

  void settled() noexcept {
    if (!awaits_loss()) conclude();
  }

  /// The process has answered that it ends, because of this call or of another one that it had: the answer stands for
  /// its loss, once that is noted and another process is on its way. True: this goes on then, maybe already.
  [[nodiscard]] bool awaits_loss() noexcept {
    engine* const at = target_->owner;
    if (left_ == 0 || at == nullptr || !call_->has_failed()) return false;
    const node_t process = call_->node.load(std::memory_order_relaxed);
    if (ham::detail::ending_process(see_failure(*call_)) != process || !may_have_another(*at)) return false;
    run = &on_awaited;
    return at->run_when_lost(process, this, to_.deadline_ns);
  }

  /// If it has not ended by now, the answer is what it says.
  void conclude() noexcept {
    run = &on_settled;
    std::exception_ptr why = call_->has_failed() ? see_failure(*call_) : nullptr;
    if (why == nullptr || (!is_loss(why) && !hides_a_run(why))) {
      unlist_repeated(*target_);
      what_.hand_over(*call_, *target_);
      delete this;
      return;
    }
    const bool lost = is_loss(why);
    drop_failure(*std::exchange(call_, nullptr));
    if (lost && !may_have_run_) {
      loss_ = std::move(why);
      may_have_run_ = outcome_ != call_outcome::not_run;
    }
    if (!lost || left_ == 0 || is_stopped(*target_)) {
      fail(loss_);
      return;
    }
    --left_;
    send_again();
  }

  /// Whether it says that the call has not run, which is true of its last repetition only, or why the last of several
  /// processes ends.
  [[nodiscard]] bool hides_a_run(const std::exception_ptr& why) const noexcept {
    if (!may_have_run_) return false;
    if (ham::detail::ending_process(why) == call_->node.load(std::memory_order_relaxed)) return true;
    return says_not_run(why);
  }

  /// Of the process that it was sent to; not that of a call which the function has made.
  bool is_loss(const std::exception_ptr& why) noexcept {
    engine* const at = target_->owner;
    if (at == nullptr || at->is_ending()) return false;
    try {
      std::rethrow_exception(why);
    } catch (const node_failure& loss) {
      outcome_ = loss.outcome();
      const ham::detail::peer_hold who = at->peers.hold(call_->node.load(std::memory_order_relaxed));
      return loss.node() == call_->node.load(std::memory_order_relaxed) &&
             (!who || who->state.load(std::memory_order_acquire) == ham::detail::peer_state::lost);
    } catch (...) {
      return false;
    }
  }

  void send_again() noexcept {
    engine* const at = target_->owner;
    for (bool sent = false; !sent;) {
      try {
        run = &on_decided;
        if (at != nullptr && waits_for_another(*at)) return;
        run = &on_settled;
        if (at == nullptr || is_stopped(*target_)) {
          fail(loss_);
          return;
        }
        send(*at);
        sent = true;
      } catch (const node_failure&) {
        if (at != nullptr && goes_on(*at)) continue;
        fail(loss_);  // there is no other process
        return;
      } catch (...) {
        fail(may_have_run_ ? loss_ : std::current_exception());
        return;
      }
    }
    attach(*call_, this);
  }

  /// Until its deadline; sending fails then.
  [[nodiscard]] bool waits_for_another(engine& at) {
    const std::int64_t until_ns = to_.deadline_ns == 0 ? base::never_ns : to_.deadline_ns;
    if (until_ns != base::never_ns && base::now_ns() >= until_ns) return false;
    if (!at.numbers.run_when_decided(to_.node, this, until_ns)) return false;
    if (until_ns != base::never_ns) at.waits.wake_if_asleep();  // not later than then; this may be over by now
    return true;
  }

  /// Whether another process may take the place of one that has died. A context is of one process.
  [[nodiscard]] bool may_have_another(const engine& at) const noexcept {
    if (to_.context != 0 || at.is_ending()) return false;
    try {
      const ham::detail::replacements::state now = at.numbers.of(to_.node);
      return now.supervised && now.now != ham::detail::replacements::phase::given_up;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  /// Of a call that could not be sent because the process that it was for has died: whether it is sent once more, which
  /// is one of its repetitions.
  [[nodiscard]] bool goes_on(const engine& at) noexcept {
    if (left_ == 0 || !may_have_another(at)) return false;
    left_ -= 1;
    return true;
  }

  void fail(std::exception_ptr why) noexcept {
    unlist_repeated(*target_);
    fail_local(*target_, std::move(why));
    delete this;
  }

  destination to_;
  unsigned left_;
  std::stop_token token_;  // ends the waits of each attempt
  const repeatable_call what_;
  call_slot* target_ = nullptr;
  call_slot* call_ = nullptr;
  std::exception_ptr loss_;  // the first one after which it may have run, else the last one
  call_outcome outcome_ = call_outcome::not_run;
  bool may_have_run_ = false;
};

}  // namespace

call_slot* start_retried(const retried_destination& to, repeatable_call call) {
  return retried_call::begin(std::make_unique<retried_call>(to, std::move(call)));
}

}  // namespace ham::offload::detail
