// How nodes of different machines find each other: the host tells all nodes who listens where.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/job.hpp"
#include "transport/network.hpp"

namespace ham::detail {

/// How connections to other machines are made.
struct network_settings {
  std::string bind = "127.0.0.1";
  transport::secret_key job_key;
  bool secure = true;
  bool force_insecure = false;
  std::chrono::milliseconds timeout = transport::network_options{}.timeout;
};

/// The job as one of its nodes sees it. Nodes that nobody has told an address of are left to the transport of this
/// machine; a node that has none asks the host to be called back.
class links : public job {
 public:
  links(engine& node, const network_settings& how) : node_(node), how_(how) {}

  /// `local` reaches the nodes of this machine.
  void use_local(transport::transport& local) noexcept { local_ = &local; }
  /// For a node that was reached over `reached`, which the engine owns.
  void use_network(transport::network& reached) noexcept { network_ = &reached; }
  /// `ranks`, which the engine owns, reaches the host and the nodes from `first` to before `end`.
  void use_ranks(transport::transport& ranks, node_t first, node_t end);

  std::int64_t connect(node_t peer) override;
  void hear(node_t from, std::span<const std::byte> text) override;
  node_t add(const std::string& group) override;
  node_t add(const offload::target_program& program) override;
  node_t spawn(const std::string& group, const std::string& program) override;
  void remove(node_t node, std::chrono::milliseconds patience) override;

 protected:
  /// Who listens where, from the host to one node.
  void announce(node_t to);
  /// Opened when it is first needed. The receiving lock is held.
  [[nodiscard]] transport::network& network();
  [[nodiscard]] engine& node() noexcept { return node_; }
  [[nodiscard]] transport::network* network_if_open() noexcept { return network_; }
  void know(node_t node, const std::string& address);
  void forget_address(node_t node);
  [[nodiscard]] std::optional<std::string> address_of(node_t node) const;
  [[nodiscard]] bool know_any() const;
  [[nodiscard]] bool has_ranks() const;

 private:
  void hear_announcement(std::span<const std::byte> text);
  void meet(node_t from, node_t who);

  engine& node_;
  network_settings how_;
  struct rank_range {
    transport::transport* by;
    node_t first, end;
  };
  [[nodiscard]] transport::transport* ranks_with(node_t node) const;

  transport::transport* local_ = nullptr;
  transport::network* network_ = nullptr;  // guarded by the receiving lock
  mutable std::mutex mutex_;               // how_, ranks_ and addresses_
  std::vector<rank_range> ranks_;
  std::map<node_t, std::string> addresses_;
};

}  // namespace ham::detail
