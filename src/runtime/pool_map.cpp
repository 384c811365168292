// offload::pool::map: chunks on their way, and what becomes of those that have settled.
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "ham/offload/detail/pool_calls.hpp"
#include "runtime/engine.hpp"
#include "runtime/pool_state.hpp"

namespace ham::inline v1::offload::detail {
namespace {

struct chunk;

/// Chunks that have settled, for the thread of their map. Stays as long as one of them may come.
class arrivals {
 public:
  void add(chunk& one) noexcept;
  /// All that have come; waits for the first one, and makes progress. A chain.
  [[nodiscard]] chunk* wait(engine& at);

 private:
  std::mutex mutex_;
  chunk* first_ = nullptr;
  call_slot* waiting_ = nullptr;
};

/// Elements of a range, and how often they were lost with their node.
struct map_part {
  std::size_t begin;
  std::size_t end;
  std::size_t losses = 0;
};

/// Elements on their way as one call. The map's while it makes and reads it, else its call's.
struct chunk : continuation {
  chunk(std::shared_ptr<arrivals> where, std::unique_ptr<pool_ticket> at, const map_part& what, bool repeats) noexcept
      : continuation{[](continuation* self) { static_cast<chunk*>(self)->settled(); }},
        destination(std::move(where)),
        ticket(std::move(at)),
        part(what),
        may_repeat(repeats) {}
  /// If the process has answered that it ends, it is known later whether this is lost with it.
  void settled() noexcept {
    run = [](continuation* self) { static_cast<chunk*>(self)->arrive(); };
    if (may_repeat && answer->has_failed() && ticket->of->awaits_loss(ticket->place, see_failure(*answer), this))
      return;
    arrive();
  }
  void arrive() noexcept {
    const std::shared_ptr<arrivals> to = destination;
    to->add(*this);  // from here on it may have gone
  }

  std::shared_ptr<arrivals> destination;
  std::unique_ptr<pool_ticket> ticket;
  map_part part;
  bool may_repeat;
  call_slot* answer = nullptr;
  chunk* next_arrived = nullptr;
};

void arrivals::add(chunk& one) noexcept {
  call_slot* waiting = nullptr;
  {
    const std::lock_guard guard(mutex_);
    one.next_arrived = std::exchange(first_, &one);
    waiting = std::exchange(waiting_, nullptr);
    if (waiting != nullptr && waiting->settled()) waiting = nullptr;  // with its runtime
  }
  if (waiting != nullptr) settle_local(*waiting, slot_state::value);
}

chunk* arrivals::wait(engine& at) {
  for (;;) {
    call_slot& wake_up = *make_local_slot(at);
    {
      const std::lock_guard guard(mutex_);
      if (chunk* const all = std::exchange(first_, nullptr); all != nullptr) {
        at.calls.cancel(wake_up);
        return all;
      }
      waiting_ = &wake_up;
    }
    wait_slot(wake_up, INT64_MAX);
    {
      const std::lock_guard guard(mutex_);
      waiting_ = nullptr;
    }
    static_cast<void>(release_awaited(wake_up));  // where its runtime has ended, so have the chunks
  }
}

/// The loop of a map, on the stack of its thread.
class map_loop {
 public:
  map_loop(const std::shared_ptr<pool_state>& pool, map_chunks& chunks, const map_plan& plan)
      : at_(engine_of_runtime(pool->runtime())),
        pool_(pool),
        chunks_(chunks),
        plan_(plan),
        max_bytes_(std::min(preferred_bytes, max_message() / 2)) {}

  void run() {
    for (;;) {
      try {
        send_what_fits();
      } catch (...) {
        fail(std::current_exception());
      }
      if (under_way_ == 0) break;
      collect(wait());
    }
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  static constexpr std::size_t per_node = 2;  // the second one waits there while the first one runs
  static constexpr std::size_t preferred_bytes = std::size_t{1} << 20;

  [[nodiscard]] bool has_more() const noexcept {
    return failure_ == nullptr && (next_ < plan_.total || !again_.empty());
  }

  void send_what_fits() {
    while (has_more() && under_way_ < per_node * std::max<std::size_t>(pool_->living(), 1)) {
      // What is under way frees a place, for whoever has waited longest.
      auto ticket = enter_pool(pool_, under_way_ == 0 ? when_full::wait : when_full::refuse);
      if (ticket == nullptr) return;
      const bool repeats = !again_.empty();
      const map_part part = repeats ? again_.back() : map_part{next_, next_end()};
      if (!send(std::move(ticket), part)) continue;
      if (repeats)
        again_.pop_back();
      else
        next_ = part.end;
    }
  }
  /// False: the node is lost.
  bool send(std::unique_ptr<pool_ticket> ticket, const map_part& part) {
    auto one = std::make_unique<chunk>(arrived_, std::move(ticket), part, plan_.may_repeat);
    try {
      one->answer = chunks_.send(destination_of(*one->ticket), part.begin, part.end);
    } catch (...) {
      exclude_or_rethrow(*one->ticket);
      return false;
    }
    ++under_way_;
    chunk& sent = *one.release();
    attach(*sent.answer, &sent);
    return true;
  }
  /// A third of each node's share of what is left: nodes end at about the same time, however fast they are.
  [[nodiscard]] std::size_t next_end() const {
    const std::size_t left = plan_.total - next_;
    if (plan_.chunk != 0) return next_ + std::min(plan_.chunk, left);
    const std::size_t share = left / (3 * std::max<std::size_t>(pool_->living(), 1));
    return chunks_.fit(next_, next_ + std::max<std::size_t>(share, 1), max_bytes_);
  }

  /// Chunks are under way, which hold what they need themselves: this must not throw.
  [[nodiscard]] chunk* wait() noexcept {
    for (;;) {
      try {
        return arrived_->wait(at_);
      } catch (...) {  // no memory for a slot: others give some back
        at_.progress_until(base::now_ns() + 1'000'000);
      }
    }
  }
  void collect(chunk* arrived) noexcept {
    while (arrived != nullptr) {
      const std::unique_ptr<chunk> one(std::exchange(arrived, arrived->next_arrived));
      --under_way_;
      try {
        collect_one(*one);
      } catch (...) {
        fail(std::current_exception());
      }
    }
  }
  void collect_one(chunk& one) {
    if (one.answer->has_failed()) {
      const std::exception_ptr why = see_failure(*one.answer);
      const bool lost = pool_->is_loss(one.ticket->place, why, true);
      if (lost) pool_->exclude(one.ticket->place, why);
      drop_failure(*one.answer);
      one.ticket.reset();
      if (!lost || !plan_.may_repeat || ++one.part.losses > pool_->max_repetitions()) {
        fail(why);
        return;
      }
      again_.push_back(one.part);
      return;
    }
    one.ticket.reset();
    if (failure_ != nullptr) {
      chunks_.drop(*one.answer);
      return;
    }
    chunks_.receive(*one.answer, one.part.begin, one.part.end);
    done_ += one.part.end - one.part.begin;
    if (*plan_.on_progress) (*plan_.on_progress)(done_, plan_.total);
  }
  void fail(std::exception_ptr why) noexcept {
    if (failure_ == nullptr) failure_ = std::move(why);
  }

  engine& at_;
  const std::shared_ptr<pool_state>& pool_;
  map_chunks& chunks_;
  const map_plan& plan_;
  const std::size_t max_bytes_;
  const std::shared_ptr<arrivals> arrived_ = std::make_shared<arrivals>();
  std::size_t next_ = 0;         // of those that have not been sent
  std::size_t done_ = 0;         // whose results were handed over
  std::size_t under_way_ = 0;    // chunks
  std::vector<map_part> again_;  // parts that were lost with their nodes
  std::exception_ptr failure_;
};

}  // namespace

void throw_wrong_count(std::size_t results, std::size_t elements) {
  throw protocol_error("a chunk of a map has " + std::to_string(results) + " results for " + std::to_string(elements) +
                       " elements (its node runs another program) build both from the same source");
}

void run_map(const std::shared_ptr<pool_state>& pool, map_chunks& chunks, const map_plan& plan) {
  map_loop(pool, chunks, plan).run();
}

}  // namespace ham::offload::detail
