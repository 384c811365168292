// A context (struct veo_thr_ctxt): the host's end of an ordered queue of requests.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "../requests.hpp"
#include "request_table.hpp"

struct veo_proc_handle;

namespace ham::inline v1::veo {

using proc = ::veo_proc_handle;

inline constexpr std::uint64_t no_request = ~std::uint64_t{0};

/// What a request that runs on the host has found.
struct local_result {
  std::uint8_t state = 0;  ///< enum veo_command_state
  std::uint64_t value = 0;
};

/// Sends a request, given the number of unseen ones before it; patient: waits for room, else nothing if there is none.
enum class blocking : std::uint8_t { none, any };
using sender =
    std::function<std::optional<offload::future<answer>>(const offload::destination&, unseen_count, blocking)>;

}  // namespace ham::veo

/// Requests are sent at once while there is room. What has no room, runs on the host, or comes behind such a request,
/// waits in a backlog, which a thread of this context's own, the pump, works off. Any thread.
struct veo_thr_ctxt {
 public:
  veo_thr_ctxt(ham::veo::proc& of, ham::offload::destination to) : proc_(of), to_(to) {}
  veo_thr_ctxt(const veo_thr_ctxt&) = delete;
  veo_thr_ctxt& operator=(const veo_thr_ctxt&) = delete;
  ~veo_thr_ctxt();

  [[nodiscard]] ham::veo::proc& of() const noexcept { return proc_; }

  /// Queues a request for the helper. `send(to, unseen, blocking)` sends it now; `later()` makes a sender that owns
  /// what it needs. Gives its number, or no_request if the proc is dead.
  template <class Send, class Later>
  std::uint64_t submit(const Send& send, const Later& later,
                       std::unique_ptr<std::vector<ham::veo::delivery>> out = {}) {
    std::unique_lock lock(mutex_);
    wait_for_turn(lock);
    if (!begin_submit()) return ham::veo::no_request;
    const std::uint64_t id = requests_.next();
    ham::veo::request_state& one = requests_.add();
    one.deliveries = std::move(out);
    if (one.deliveries != nullptr) ++delivering_;
    if (!send_now(one, send)) enqueue(one, {id, later(), {}});
    if (one.at != ham::veo::stage::done) return id;
    requests_.remove(id);
    return ham::veo::no_request;
  }

  /// Queues work that the pump does when all earlier requests have finished.
  std::uint64_t submit_local(std::function<ham::veo::local_result()> work);

  /// Does it now if nothing is under way, on the calling thread; for work that is soon done and needs no helper.
  /// Nothing: it would have to wait.
  std::optional<std::uint64_t> submit_at_once(const std::function<bool()>& work);

  /// Sends a request in its turn and waits for the answer; at once if the calling thread is within a request of this
  /// context.
  [[nodiscard]] ham::veo::local_result exchange(const ham::veo::sender& send,
                                                std::unique_ptr<std::vector<ham::veo::delivery>> out = {});
  /// Likewise, if nothing is under way. Nothing: it would have to wait for earlier requests.
  [[nodiscard]] std::optional<ham::veo::local_result> exchange_at_once(const ham::veo::sender& send);

  /// Enum veo_command_state.
  int wait(std::uint64_t id, std::uint64_t* value);
  int peek(std::uint64_t id, std::uint64_t* value);
  /// Waits until all requests submitted so far have finished.
  void sync();
  /// Waits until it is the calling thread's turn and nothing earlier is under way.
  void settle();
  /// Whether a request that has not finished may write to this memory of the client.
  [[nodiscard]] bool will_change(const void* memory, std::size_t bytes);
  /// Helpers shall count one more request that they do not see.
  void count_unseen() noexcept;

  void block_begin();
  void block_end();
  /// Blocks keep nobody from submitting any more: at the end of the proc, whoever has not ended them.
  void lift_blocks();

  /// Takes no requests any more; the pump ends when it is done. Does not wait for it if it is the calling thread.
  void close();
  [[nodiscard]] bool runs_here() const noexcept;
  /// Whether the calling thread is within a request of this context, and so before all later ones: it is the pump, or
  /// it executes a function that a kernel of this context has called.
  [[nodiscard]] bool within_request() const noexcept;
  [[nodiscard]] const ham::offload::destination& destination() const noexcept { return to_; }

 private:
  struct waiting {
    std::uint64_t id = 0;
    ham::veo::sender send;
    std::function<ham::veo::local_result()> work;  // or this
  };

  [[nodiscard]] std::uint64_t flying() const noexcept { return first_unsent_ - first_flying_; }
  [[nodiscard]] bool begin_submit();
  void wait_for_turn(std::unique_lock<std::mutex>& lock);
  /// False: there is no room, also after a short wait.
  template <class Send>
  bool send_now(ham::veo::request_state& one, const Send& send) {
    if (!backlog_.empty() || still_full()) return false;
    std::optional<ham::offload::future<ham::veo::answer>> reply;
    for (std::int64_t until = 0;;) {
      try {
        if (has_room()) reply = send(to_, unseen_, ham::veo::blocking::none);
      } catch (const std::exception& problem) {
        fail_unsent(one, problem);
        return true;
      }
      if (reply) break;
      if (!wait_a_little(until)) return false;
    }
    unseen_ = 0;
    one.reply = std::move(*reply);
    one.at = ham::veo::stage::flying;
    ++first_unsent_;
    return true;
  }
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] bool still_full();
  [[nodiscard]] bool wait_a_little(std::int64_t& until_ns);
  void fail_unsent(ham::veo::request_state& one, const std::exception& problem);
  void note(const std::exception& problem);
  void enqueue(ham::veo::request_state& one, waiting what);
  void harvest();
  void collect(ham::veo::request_state& one);
  [[nodiscard]] bool deliver_before(std::uint64_t id);
  void finish(ham::veo::request_state& one, std::uint8_t state, std::uint64_t value);
  int take(std::uint64_t id, ham::veo::request_state& one, std::uint64_t* value);
  [[nodiscard]] ham::veo::local_result exchange_within(const ham::veo::sender& send,
                                                       std::unique_ptr<std::vector<ham::veo::delivery>> out);
  void fence(std::unique_lock<std::mutex>& lock);
  void pump();
  void pump_one(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool settled();

  ham::veo::proc& proc_;
  const ham::offload::destination to_;
  std::mutex mutex_;
  ham::veo::request_table requests_;
  std::uint64_t first_flying_ = 0;  ///< all below have finished
  std::uint64_t first_unsent_ = 0;
  std::deque<waiting> backlog_;
  ham::veo::unseen_count unseen_ = 0;
  bool full_ = false;  ///< there was no room; do not wait for it again until much of it is there
  bool closed_ = false;
  std::uint64_t delivering_ = 0;  ///< requests that have not finished and write to the client's buffers then
  int waiters_ = 0;
  std::condition_variable changed_;
  std::condition_variable pump_due_;
  std::thread pump_;

  std::thread::id block_owner_;
  int block_depth_ = 0;
  bool blocks_lifted_ = false;
  std::condition_variable block_free_;
};
