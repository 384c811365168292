// Each part is a transfer of its own, so that whatever moves bytes knows nothing of tokens but the messages.
#include "runtime/stoppable_transfer.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "ham/offload/stop.hpp"
#include "runtime/message_transfer.hpp"

namespace ham::inline v1::offload::detail {
namespace {

constexpr const char* written = "any part of the memory that it writes may have been written";

std::string named(const stoppable_units& what) {
  const std::string node = " node " + std::to_string(what.node);
  switch (what.verb) {
    case operation::put: return "a put to" + node;
    case operation::get: return "a get from" + node;
    default: return "a copy from" + node;
  }
}

operation_cancelled stopped_transfer(const stoppable_units& what, bool begun) {
  return operation_cancelled(named(what) + " was stopped (" + (begun ? written : "nothing has moved") + ")",
                             begun ? call_outcome::may_have_run : call_outcome::not_run);
}

/// The node is lost behind parts that have moved.
node_failure lost_transfer(const stoppable_units& what, const node_failure& why) {
  node_failure::details details;
  details.node = why.node();
  details.host = why.host();
  details.pid = why.pid();
  details.function = why.function();
  details.call = why.call();
  details.outcome = call_outcome::may_have_run;
  details.orderly = why.orderly();
  return {named(what) + " has failed (" + written + "): " + why.what(), std::move(details)};
}

/// One transfer. The last part comes first: whatever ends beyond its memory is refused before any byte moves. Used
/// by one thread at a time: the caller, and then who runs what a part that has settled continues.
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
        if (token_.stop_requested()) throw stopped_transfer(what_, done_ != 0);
        if (!ham::detail::is_up(runtime_))
          throw config_error("a transfer cannot go on (its runtime has ended); wait for transfers before its end");
        const std::size_t from = (done_ == 0 ? parts_ - 1 : done_ - 1) * what_.part;
        const ham::detail::token_of_next_call ends_wait(&token_);
        future<void> part = begin_(from, std::min(what_.part, what_.total - from), how_);
        if (!future_access::slot(part)->settled()) {
          part.on_result([self = shared_from_this()](future<void> ended) { self->take(ended); });
          return;
        }
        end_part(part);
        if (done_ == parts_) break;
      }
    } catch (...) {
      fail();
      return;
    }
    settle_local(*slot_, slot_state::value);
  }

  void take(future<void>& ended) noexcept {
    try {
      end_part(ended);
    } catch (...) {
      fail();
      return;
    }
    if (done_ == parts_)
      settle_local(*slot_, slot_state::value);
    else
      go_on();
  }

  void end_part(future<void>& part) {
    part.get();
    ++done_;
  }

  /// With the exception that is being handled: of a part, or because that has not begun. Others may have moved.
  void fail() noexcept {
    try {
      throw_of_all();
    } catch (...) {
      fail_local(*slot_, std::current_exception());
    }
  }
  void throw_of_all() const {
    try {
      throw;
    } catch (const operation_cancelled& why) {
      throw stopped_transfer(what_, done_ != 0 || why.outcome() != call_outcome::not_run);
    } catch (const node_failure& why) {
      if (done_ == 0 || why.outcome() != call_outcome::not_run) throw;
      throw lost_transfer(what_, why);
    } catch (const deadline_exceeded& why) {
      if (done_ == 0 || why.outcome() != call_outcome::not_run) throw;
      throw deadline_exceeded(named(what_) + " was not over by its deadline (" + written + "); allow more time",
                              call_outcome::may_have_run);
    }
  }

  engine& at_;
  const std::uint64_t runtime_;
  const stoppable_units what_;
  const std::stop_token token_;
  const begin_part begin_;
  transfer_terms how_;
  const std::size_t parts_ = what_.total == 0 ? 1 : (what_.total - 1) / what_.part + 1;
  std::size_t done_ = 0;  ///< parts
  call_slot* slot_ = nullptr;
};

}  // namespace

future<void> in_stoppable_parts(engine& at, const stoppable_units& what, const transfer_terms& how, begin_part begin) {
  stoppable_units units = what;
  // Within this node both ends may overlap, which only one transfer of all bytes knows how to do.
  if (what.verb != operation::copy && what.node == at.self()) units.part = what.total;
  return std::make_shared<parts>(at, units, how, std::move(begin))->start();
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
