// A compiled graph on the node that has compiled it: the replays in flight, and how they settle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/graph_parts.hpp"

namespace ham::inline v1::offload::detail {

/// Replays are numbered. Each has an entry of a table that is as long as there are frames on the nodes. Numbers whose
/// entries are taken are left out, so that a long replay holds up none behind it. What settles holds the receiving
/// lock, and finds by the number that the replay is still the one it is about.
class graph_replays final : public replay_observer,
                            public replay_owner,
                            public std::enable_shared_from_this<graph_replays> {
 public:
  graph_replays(engine& at, graph_plan plan, result_decoder decode, std::size_t in_flight);
  graph_replays(const graph_replays&) = delete;
  graph_replays& operator=(const graph_replays&) = delete;
  ~graph_replays() override;

  /// Gives all nodes their parts, unless they have them. Blocks. Throws.
  void install();
  void check_inputs(std::span<const std::type_info* const> types) const;
  [[nodiscard]] replay_ticket enter(const replay_options& how, std::span<const std::size_t> sizes);
  void send(const replay_ticket& entered);
  void abandon(const replay_ticket& entered) noexcept;
  void close() noexcept;
  [[nodiscard]] engine& runtime_engine() const noexcept { return at_; }
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }

  // ---- replay_observer
  void on_result(std::uint32_t replay, std::span<const std::byte> value) noexcept override;
  void on_failed(std::uint32_t replay, std::uint32_t stage, std::exception_ptr why) noexcept override;
  void on_lost(node_t node, const std::string& why) noexcept override;
  bool is_over(std::uint32_t replay) noexcept override;
  bool begin_transfer() noexcept override;
  void end_transfer() noexcept override;

  // ---- replay_owner
  void lose(node_t node) noexcept override;
  bool expire(call_slot& slot) noexcept override;
  bool stop(call_slot& slot) noexcept override;
  std::uint32_t number_of(const call_slot& slot) const noexcept override;
  void take_result(node_t node, std::uint32_t replay, std::span<const std::byte> value) noexcept override;
  std::shared_ptr<replay_owner> keep() override { return shared_from_this(); }
  void announce_stop(std::uint32_t number) noexcept override;

 private:
  struct replay;
  /// Where the parts are. A later one replaces it when a node was started again.
  struct installation {
    std::vector<part_address> parts;
    std::shared_ptr<graph_part> own;
  };

  /// There is a power of two of them.
  [[nodiscard]] replay& entry_of(std::uint32_t number) const noexcept { return *replays_[number & (frames_ - 1)]; }
  [[nodiscard]] replay* find(std::uint32_t number) noexcept;
  [[nodiscard]] replay* find(const call_slot& slot) const noexcept;
  [[nodiscard]] std::uint32_t free_number() const noexcept;
  [[nodiscard]] replay* claim(call_slot& slot) noexcept;
  [[nodiscard]] bool all_begin_here() const noexcept;
  [[nodiscard]] bool await_room(const std::stop_token& token, std::int64_t deadline_ns);
  void refuse_old_handles() const;
  [[nodiscard]] replay_ticket fill(replay& one, call_slot& slot, const replay_options& how,
                                   std::span<const std::size_t> sizes);
  [[nodiscard]] replay_ticket settled_ticket(std::exception_ptr why);
  void send_parts(replay& one, std::uint32_t number, std::int64_t deadline_ns, bool& begun);
  [[nodiscard]] std::span<const std::byte> inputs_for(replay& one, std::size_t part) const;
  void end_filling(replay& one) noexcept;

  /// With the receiving lock; runs what has settled.
  template <class What>
  void locked(What what) noexcept {
    at_.waits.lock();
    what();
    at_.waits.unlock();
    at_.continuations.run_settled();
  }
  [[nodiscard]] bool list_waiting(call_slot& slot) noexcept;
  bool end_waiting(call_slot& slot) noexcept;
  void wake_waiting() noexcept;
  void forget(replay& one) noexcept;
  void settle(std::uint32_t number, std::span<const std::byte> value) noexcept;
  [[nodiscard]] static bool is_late(const replay& one) noexcept;
  void fail(replay& one, std::exception_ptr why) noexcept;
  void fail_all(const std::exception_ptr& why) noexcept;
  void abort(replay& one) noexcept;

  [[nodiscard]] bool renew_installation(const wait_limit& limit);
  [[nodiscard]] bool is_replaced(std::span<const node_t> processes) const;
  [[nodiscard]] std::shared_ptr<installation> install_parts_on(std::span<const node_t> processes,
                                                               const wait_limit& limit);
  void set_keys(part_plan& part, std::size_t index, node_t process, const wait_limit& limit) const;
  template <class Busy>
  void wait_while(Busy busy);
  void uninstall(const installation& old) noexcept;
  void abort_parts(const installation& where, std::uint32_t number) noexcept;
  void forget_installations() noexcept;
  [[nodiscard]] node_t process_in(const installation& where, node_t node) const noexcept;
  [[nodiscard]] std::exception_ptr loss_of(node_t node, const installation& where,
                                           const std::string& why) const noexcept;
  [[nodiscard]] std::string stages_on(node_t process, const installation& where) const;

  engine& at_;
  const std::uint64_t runtime_;
  const graph_plan plan_;
  std::vector<char> takes_all_inputs_;  // each part, at its start
  const result_decoder decode_;
  const std::size_t limit_;
  const std::uint32_t frames_;
  // The receiving lock guards the next.
  std::vector<std::unique_ptr<replay>> replays_;
  std::vector<call_slot*> waiting_;  // of threads that wait until something has settled
  std::shared_ptr<const installation> where_;
  std::uint32_t next_ = 1;
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<std::size_t> moving_{0};  // transfers under way, also those of replays that have failed
  std::atomic<bool> closing_{false};    // no transfer begins
  std::atomic<bool> stale_{true};       // parts are not installed, or a node is lost, which may have been started again
};

}  // namespace ham::offload::detail
