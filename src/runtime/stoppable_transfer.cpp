// Each part is a transfer of its own, so that whatever moves bytes knows nothing of tokens but the messages.
#include "runtime/stoppable_transfer.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "runtime/message_transfer.hpp"

namespace ham::inline v1::offload::detail {
namespace {

operation_cancelled stopped_transfer(node_t node, bool begun) {
  return operation_cancelled(
      "a transfer with node " + std::to_string(node) + " was stopped (" +
          (begun ? "any part of the memory that it writes may have been written" : "nothing has moved") + ")",
      begun ? call_outcome::may_have_run : call_outcome::not_run);
}

/// One transfer. Used by one thread at a time: the caller, and then who runs what a part that has settled continues.
class parts : public std::enable_shared_from_this<parts> {
 public:
  parts(engine& at, const stoppable_units& what, const transfer_terms& how, begin_part begin)
      : at_(at), runtime_(at.serial), what_(what), token_(*how.token), begin_(std::move(begin)), how_(how) {
    how_.token = &token_;
    how_.is_part = true;
  }

  /// Part by part, until one is not over at once. Gives the future of all.
  [[nodiscard]] future<void> start() {
    call_slot* const slot = make_transfer_slot(at_, what_.verb, what_.node);
    slot_ = slot;
    go_on();
    return future_access::make<void>(slot);
  }

 private:
  void go_on() noexcept {
    const engine_scope scope(&at_);  // a continuation may run on a thread of no runtime
    try {
      for (;;) {
        if (done_ == what_.total && done_ != 0) break;
        if (token_.stop_requested()) throw stopped_transfer(what_.node, done_ != 0);
        if (!ham::detail::is_up(runtime_))
          throw config_error("a transfer cannot go on (its runtime has ended); wait for transfers before its end");
        const std::size_t count = std::min(what_.part, what_.total - done_);
        future<void> part = begin_(done_, count, how_);
        if (!future_access::slot(part)->settled()) {
          part.on_result([self = shared_from_this(), count](future<void> ended) { self->take(ended, count); });
          return;
        }
        end_part(part, count);
        if (what_.total == 0) break;
      }
    } catch (...) {
      fail();
      return;
    }
    settle_local(*slot_, slot_state::value);
  }

  void take(future<void>& ended, std::size_t count) noexcept {
    try {
      end_part(ended, count);
    } catch (...) {
      fail();
      return;
    }
    go_on();
  }

  /// Throws what it has failed with.
  void end_part(future<void>& part, std::size_t count) {
    try {
      part.get();
    } catch (const operation_cancelled& why) {
      throw stopped_transfer(what_.node, done_ != 0 || why.outcome() != call_outcome::not_run);
    } catch (const deadline_exceeded& why) {
      if (done_ == 0 || why.outcome() != call_outcome::not_run) throw;
      throw deadline_exceeded("a transfer with node " + std::to_string(what_.node) +
                                  " was not over by its deadline (any part of the memory that it writes may have been "
                                  "written); allow more time",
                              call_outcome::may_have_run);
    }
    done_ += count;
  }

  /// With the exception that is being handled.
  void fail() noexcept { fail_local(*slot_, std::current_exception()); }

  engine& at_;
  const std::uint64_t runtime_;
  const stoppable_units what_;
  const std::stop_token token_;
  const begin_part begin_;
  transfer_terms how_;
  std::size_t done_ = 0;
  call_slot* slot_ = nullptr;
};

}  // namespace

future<void> in_stoppable_parts(engine& at, const stoppable_units& what, const transfer_terms& how, begin_part begin) {
  return std::make_shared<parts>(at, what, how, std::move(begin))->start();
}

std::size_t rows_of_part(const block_rows& what) noexcept {
  return what.row_bytes == 0 ? what.rows : std::max<std::size_t>(1, piece_bytes / what.row_bytes);
}

namespace {

struct drop_callback {
  std::uint64_t runtime;
  std::uint32_t call;
  void operator()() const noexcept {
    const ham::detail::held_engine held(runtime);
    if (held) held.at().drop_message(call);
  }
};
struct drop_link : continuation {
  drop_link(const std::stop_token& token, drop_callback what) : on_stop(token, what) {}
  std::stop_callback<drop_callback> on_stop;
};

}  // namespace

void drop_when_stopped(call_slot& message, const transfer_terms& how) {
  engine* const at = message.owner;
  if (at == nullptr || message.settled()) return;
  auto* const link = new drop_link(*how.token, {at->serial, message.id.load(std::memory_order_relaxed)});
  link->run = [](continuation* self) { delete static_cast<drop_link*>(self); };
  ham::detail::attach(message, link);
}

}  // namespace ham::offload::detail
