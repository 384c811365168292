// Words between the jobs of two nodes, at the host and at a target: announcements, meetings, where main runs.
// fuzz: -max_len=256 -detect_leaks=0
#include <optional>

#include "input.hpp"
#include "job/node_directory.hpp"
#include "job/node_job.hpp"

using namespace ham;
using namespace ham::detail;
namespace wire = ham::transport;  // inside a transport that name is its base class

namespace {

/// Connects nobody.
class deaf_network final : public transport::network {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "deaf"; }
  void connect(node_t) override {}
  wire::endpoint* poll(wire::frame&, unsigned) override { return nullptr; }
  bool arm() override { return true; }
  void disarm() noexcept override {}
  [[nodiscard]] int wake_fd() const noexcept override { return -1; }
  void wake() noexcept override {}
  void shutdown() noexcept override {}
  void invite(node_t, const std::string&, const std::optional<wire::secret_key>&) override {}
  void reach(node_t peer, const std::string&) override { fuzz::require(peer >= 0, "a node that cannot be"); }
  [[nodiscard]] std::string address() const override { return "127.0.0.1:1"; }
  void leave(node_t) noexcept override {}
};

/// A node of a job; a new one when others have told it of too many.
class seat {
 public:
  explicit seat(node_t self) : self_(self) {}
  void on_notice(node_t from, std::span<const std::byte> text) {
    if (!node_ || node_->peers.size() > 100) {
      node_.reset();
      node_.emplace(self_, 4, std::make_unique<base::heap>(base::heap::make_file()));
    }
    node_directory directory(*node_, {});
    directory.use_network(network_);
    main_role main(*node_);
    node_job job(directory, nullptr, &main);
    node_->locked([&] { job.on_notice(from, text); });
  }

 private:
  node_t self_;
  deaf_network network_;
  std::optional<engine> node_;
};

}  // namespace

HAM_FUZZ(from) {
  static seat seats[] = {seat(0), seat(1)};
  const std::uint8_t who = from.byte();
  const node_t sender = who / 2 % 3;
  while (!from.empty()) {
    const auto text = from.take(from.number<std::uint16_t>() % 256);
    try {
      seats[who % 2].on_notice(sender, text);
    } catch (const protocol_error&) {
      return;
    }
  }
}
