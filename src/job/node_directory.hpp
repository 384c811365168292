// How the nodes of a job find each other: the host tells all nodes who listens where.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "job/notices.hpp"
#include "job/target_plan.hpp"
#include "runtime/engine.hpp"
#include "transport/network_factory.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::detail {

/// How connections to other machines are made.
struct network_settings {
  std::string bind = "127.0.0.1";
  transport::secret_key job_key;
  bool secure = true;
  bool force_insecure = false;
  std::chrono::milliseconds timeout = transport::network_options{}.timeout;
};

/// One node's directory. Nodes that nobody has told an address of are left to the transport of this machine; a node
/// that has none asks the host to be called back. Nodes without a common medium are connected through others
/// (relay_transport). Any thread, but where it says otherwise.
class node_directory {
 public:
  /// `node` outlives this.
  node_directory(engine& node, const network_settings& how) : node_(node), how_(how) {}

  // ---- which transports reach whom; the engine owns them
  /// `local` reaches who has started this node; and other targets of this machine, if its kind of transport does.
  void use_local(transport::transport& local, bool reaches_targets) noexcept {
    local_ = &local;
    local_reaches_targets_ = reaches_targets;
  }
  /// `only` reaches who has started this node, which has nothing else: where others listen is not for it.
  void use_only(transport::transport& only) noexcept { only_ = &only; }
  /// The host may ask this node to end targets that it has started. Before its first connection; `end` is called with
  /// the receiving lock.
  void end_targets_by(std::function<void(node_t, std::chrono::milliseconds)> end) { end_own_ = std::move(end); }
  /// The host may ask this node, once, to start targets: the serving thread comes back then. Before its first
  /// connection.
  void take_start_requests() noexcept { may_start_ = true; }
  /// The request that has come, once.
  [[nodiscard]] std::optional<start_request> take_start_request();
  /// For a node that was reached over `reached`.
  void use_network(transport::network& reached) noexcept { network_ = &reached; }
  /// `ranks` reaches the host and the nodes from `first` to before `end`.
  void use_ranks(transport::transport& ranks, node_t first, node_t end);
  [[nodiscard]] bool has_ranks() const;
  /// Whether it is reached as one of those of use_ranks().
  [[nodiscard]] bool is_rank(node_t node) const { return ranks_with(node) != nullptr; }

  // ---- what the engine asks (job.hpp)
  /// Whether the host has told, if it has to, how `peer` is reached.
  [[nodiscard]] bool knows_way(node_t peer) const;
  std::int64_t connect(node_t peer);
  /// 0: there is nobody to ask. Does not wait.
  [[nodiscard]] std::uint32_t ask_for_nodes();
  [[nodiscard]] bool has_answered(std::uint32_t number) const noexcept {
    return answered_.load(std::memory_order_acquire) >= number;
  }
  void on_welcome(node_t peer);
  void on_notice(node_t from, std::span<const std::byte> text);

  // ---- who listens where, and reaches whom; on the host
  void set_address(node_t node, const std::string& address);
  void set_company(node_t node, transport::company reaches, node_t starter = 0);
  /// It is not in the job any more.
  void forget(node_t node);
  /// nullopt: nobody has told of any.
  [[nodiscard]] std::optional<std::string> address_of(node_t node) const;
  /// Sees to it that a target which a rank has started, and which was told to end, does so within `timeout`. Does
  /// nothing for other nodes. Does not wait.
  void end_target(node_t node, std::chrono::milliseconds timeout);
  /// On a rank: the host has announced the same targets of ranks as this one's list of nodes has.
  [[nodiscard]] bool has_compared() const noexcept { return compared_.load(std::memory_order_acquire); }
  /// From now on nodes that are announced are not told to know all about those from `first` on, until announce_to_all.
  void begin_additions(node_t first);
  /// Tells all nodes that are connected all that is known.
  void announce_to_all();
  /// On a target: tells the host that a function is at work.
  void send_heartbeat() { send_notice(0, pack(std::tuple{kind_of(notice::heartbeat)})); }
  /// On the host: tells all nodes that are connected of engine::numbers.
  void announce_numbers();
  /// On the host: has `starter`, which was invited, start those of `fresh` that are behind it.
  void start_behind(node_t starter, const fresh_targets& fresh);
  /// Tells one node who listens where, if it is connected.
  void announce(node_t to);
  /// Opened when it is first needed. The receiving lock is held.
  [[nodiscard]] transport::network& network();
  /// nullptr: it has not been needed so far. The receiving lock is held.
  [[nodiscard]] transport::network* network_if_open() noexcept { return network_; }

 private:
  static constexpr node_t no_additions = std::numeric_limits<node_t>::max();
  struct rank_range {
    transport::transport* by;
    node_t first, end;
  };
  /// A node that asks the host.
  struct asker {
    std::uint32_t unanswered = 0;                       ///< at most: answers that have not left
    std::pair<std::size_t, std::uint64_t> announced{};  ///< number of nodes and changes_, in the last announcement
  };
  void announce_to(std::span<const node_t> nodes);
  void answer(node_t from, std::uint32_t question);
  void on_announcement(std::span<const std::byte> text);
  void learn_addresses(const std::vector<std::pair<node_t, std::string>>& announced);
  void forget_lost();
  void introduce(node_t from, node_t who);
  void compare_starters(const std::vector<std::pair<node_t, node_t>>& announced) const;
  void on_start_request(std::span<const std::byte> text);
  void on_numbers(std::span<const std::byte> text);
  void end_own(node_t node, std::chrono::milliseconds timeout);
  void send_notice(node_t to, std::span<const std::byte> text);
  std::int64_t connect_through_others(node_t peer);
  [[nodiscard]] bool is_apart(node_t peer) const;
  /// Others on the network may connect to this node.
  [[nodiscard]] bool listens() const noexcept { return local_ == nullptr && !has_ranks(); }
  [[nodiscard]] transport::transport* ranks_with(node_t node) const;

  engine& node_;
  bool may_start_ = false;
  std::function<void(node_t, std::chrono::milliseconds)> end_own_;
  network_settings how_;
  transport::transport* local_ = nullptr;
  bool local_reaches_targets_ = true;
  transport::transport* only_ = nullptr;
  transport::network* network_ = nullptr;  // guarded by the receiving lock
  std::atomic<bool> compared_{false};      ///< what the host has announced with this rank's own list
  std::atomic<node_t> complete_{0};        ///< of nodes with smaller numbers the host has told what follows
  std::atomic<std::uint32_t> asked_{0};    ///< questions about the nodes of the job
  std::atomic<std::uint32_t> answered_{0};
  std::atomic<std::uint64_t> changes_{0};  ///< of what is announced
  std::map<node_t, asker> askers_;         // guarded by the receiving lock
  std::size_t max_askers_ = 64;
  std::set<std::pair<node_t, node_t>> meetings_;  // that were passed on: who asked, and whom; as askers_
  std::size_t max_meetings_ = 64;
  mutable std::mutex mutex_;  // what follows, and how_
  std::optional<start_request> start_request_;
  std::vector<rank_range> ranks_;
  std::vector<std::pair<node_t, node_t>> other_ranks_;  ///< first and end of those that this node is not one of
  node_t first_addition_ = no_additions;                ///< on the host: of later ones not all is known yet
  std::map<node_t, bool> apart_;                        ///< has no targets of its kind; whether it has networks
  std::map<node_t, node_t> starters_;                   ///< of nodes that a rank has started
  std::map<node_t, std::string> addresses_;
};

}  // namespace ham::detail
