// Transports that reach other machines: peers have addresses, connections have keys, the code is in a module.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/heap.hpp"
#include "base/secret_key.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

/// What both ends of a connection hold.
using base::secret_key;

/// Who encrypts and decrypts what follows the handshake of a secure connection. Both sides need not choose alike.
enum class tls_records : std::uint8_t { ham, openssl };

struct network_options {
  node_t self = 0;
  std::string bind = "127.0.0.1";           ///< address on which peers of the job may connect to this node
  secret_key job_key;                       ///< of this job; what targets show to each other. Not secret if !secure
  bool secure = true;                       ///< false: neither key nor encryption; on loopback addresses only
  bool force_insecure = false;              ///< without security also where others can connect
  std::chrono::milliseconds timeout{3000};  ///< a peer that the link does not reach for so long is lost
  tls_records records = tls_records::ham;
};

/// A transport whose peers are named by addresses: "10.0.0.7:7000", "[fe80::1]:7000", "node7:7000".
class network : public transport {
 public:
  /// Connects to a process that waits for a host at `address` and makes it node `peer` of this job. `server_key` is the
  /// key it was started with; none: without security. Returns at once; observer::on_connected or on_lost follows.
  virtual void invite(node_t peer, const std::string& address, const std::optional<secret_key>& server_key) = 0;
  /// Connects to node `peer` of this job, which listens at `address`. Returns at once, as invite.
  virtual void reach(node_t peer, const std::string& address) = 0;
  /// Where peers of the job reach this node, for their reach().
  [[nodiscard]] virtual std::string address() const = 0;
  /// Ends one connection in order, for good.
  virtual void leave(node_t peer) noexcept = 0;
};

/// A host that has shown the right key, in the process that will serve its job.
class arrival {
 public:
  virtual ~arrival() = default;
  /// Number of this node in the job.
  [[nodiscard]] virtual node_t node() const noexcept = 0;
  [[nodiscard]] virtual const secret_key& job_key() const noexcept = 0;
  /// Who came, for people.
  [[nodiscard]] virtual std::string from() const = 0;
  /// The transport of the job; observer::on_connected for node 0 follows. `memory`: what peers may put to and get from.
  [[nodiscard]] virtual std::unique_ptr<network> join(base::heap* memory, observer& to) = 0;
};

/// Waits at an address for hosts. May be used in a child after fork.
class listener {
 public:
  virtual ~listener() = default;
  /// With the port that was really taken, if 0 was asked for.
  [[nodiscard]] virtual std::string address() const = 0;
  /// The next host that shows the key and offers a job. Whoever does not is turned away; at most a bounded number of
  /// connections is open meanwhile. Blocks.
  [[nodiscard]] virtual std::unique_ptr<arrival> wait() = 0;

  // Instead of wait(), while no further job is served:
  /// Readable when refuse() has something to do.
  [[nodiscard]] virtual int fd() = 0;
  /// Tells whoever shows the key and offers a job that there is no room for it. Returns when to call it again at the
  /// latest, on the clock of base::now_ns(). Does not block.
  [[nodiscard]] virtual std::int64_t refuse() = 0;
  /// Leaves those who knock to another process that waits at this address.
  virtual void leave() = 0;
};

struct listen_options {
  std::string address;            ///< "ADDR:PORT"; port 0: any
  std::optional<secret_key> key;  ///< none: without security; on loopback addresses only
  bool force_insecure = false;    ///< without security also where others can connect
  std::chrono::milliseconds timeout{3000};
  tls_records records = tls_records::ham;
};

/// What a module offers. Its functions throw ham::config_error with what to do.
class network_module {
 public:
  virtual ~network_module() = default;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// Why secure connections cannot be made; empty: they can.
  [[nodiscard]] virtual std::string why_insecure() const = 0;
  /// What secures them, with its version; empty: nothing can.
  [[nodiscard]] virtual std::string secured_by(tls_records records) const = 0;
  /// A node's side of the job. `memory`: what peers may put to and get from; nullptr: nothing.
  [[nodiscard]] virtual std::unique_ptr<network> open(const network_options& options, base::heap* memory,
                                                      observer& to) = 0;
  [[nodiscard]] virtual std::unique_ptr<listener> listen(const listen_options& options) = 0;
};

/// Changes when anything changes that a module and the library share.
inline constexpr std::uint32_t module_interface = 7;

/// The function that a module exports under the name "ham_network_module". nullptr: another interface than asked for.
using network_module_entry = network_module* (*)(std::uint32_t interface_version);

/// Makes a module known that is part of the program, before main: no file is looked for under its name then. libham has
/// it.
void add_network_module(network_module& one);

}  // namespace ham::transport
