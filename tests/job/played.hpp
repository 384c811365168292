// Transports of which the tests of jobs play the other end.
#pragma once

#include <sys/eventfd.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "runtime/engine.hpp"
#include "transport/network_factory.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::test {

namespace wire = ham::transport;  // inside a transport that name is its base class

/// Notes whom it is asked to connect to; nothing ever arrives.
template <class Base>
class silent : public Base {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "silent"; }
  void connect(node_t peer) override { connected.push_back(peer); }
  wire::endpoint* poll(wire::frame&, unsigned) override { return nullptr; }
  bool arm() override { return true; }
  void disarm() noexcept override {}
  [[nodiscard]] int wake_fd() const noexcept override { return event_.get(); }
  void wake() noexcept override { ::eventfd_write(event_.get(), 1); }
  void shutdown() noexcept override {}

  std::vector<node_t> connected;

 private:
  base::unique_fd event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

using silent_transport = silent<wire::transport>;

/// Notes who is to be reached where.
class silent_network final : public silent<wire::network> {
 public:
  void invite(node_t peer, const std::string& address, const std::optional<wire::secret_key>& key) override {
    invited.emplace_back(peer, address);
    keys.push_back(key.has_value());
  }
  void reach(node_t peer, const std::string& address) override { reached.emplace_back(peer, address); }
  [[nodiscard]] std::string address() const override { return "127.0.0.1:1"; }
  void leave(node_t peer) noexcept override { left.push_back(peer); }

  std::vector<std::pair<node_t, std::string>> invited, reached;
  std::vector<bool> keys;
  std::vector<node_t> left;
};

/// What a job asked of a played transport that starts targets.
struct starts_log {
  std::vector<std::vector<wire::start_plan>> started;  ///< of each call
  std::vector<wire::job_size> sizes;
  std::vector<node_t> ended;
  std::map<node_t, int> homes;
  node_t placed = -1;    ///< the node whose place is taken
  std::string why_lost;  ///< not empty: what is started is lost at once
  std::size_t hosts_made = 0;
};

/// Starts nothing.
class starting_played final : public wire::starting_factory {
 public:
  explicit starting_played(starts_log& log, bool places = false) : log_(log), places_(places) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "started"; }
  [[nodiscard]] wire::help_line help() const noexcept override { return {}; }
  [[nodiscard]] wire::target_group parse(wire::group_text&) const override { return wire::target_group(*this); }
  [[nodiscard]] wire::availability probe() const override { return {}; }
  [[nodiscard]] bool places_nodes() const noexcept override { return places_; }
  [[nodiscard]] wire::host_parts make_host(node_t, base::heap&, wire::observer& to) const override {
    ++log_.hosts_made;
    return {std::make_unique<silent_transport>(), std::make_unique<side>(log_, to)};
  }

 private:
  class side final : public wire::host_side {
   public:
    side(starts_log& log, wire::observer& to) : log_(log), to_(to) {}
    void start(const wire::target_group&, std::vector<wire::start_plan> plans, wire::job_size job) override {
      log_.started.push_back(plans);
      log_.sizes.push_back(job);
      for (const wire::start_plan& one : plans) {
        if (!log_.why_lost.empty()) to_.on_lost(one.node, log_.why_lost);
      }
    }
    void end(node_t node, std::chrono::milliseconds) override { log_.ended.push_back(node); }
    [[nodiscard]] bool has_place_of(node_t node) const override { return node == log_.placed; }
    void set_home_core(node_t node, int core) noexcept override { log_.homes[node] = core; }

   private:
    starts_log& log_;
    wire::observer& to_;
  };

  starts_log& log_;
  const bool places_;
};

/// Targets of it wait at addresses; its module opens nothing.
class network_played final : public wire::network_factory {
 public:
  explicit network_played(std::string why_insecure = {}) { module_.insecure = std::move(why_insecure); }
  [[nodiscard]] std::string_view name() const noexcept override { return "waiting"; }
  [[nodiscard]] std::string_view prefix() const noexcept override { return "waiting://"; }
  [[nodiscard]] wire::help_line help() const noexcept override { return {}; }
  [[nodiscard]] wire::target_group parse(wire::group_text&) const override { return at("host", 1); }
  [[nodiscard]] wire::availability probe() const override { return {}; }
  [[nodiscard]] wire::network_module& module() const override { return module_; }

  [[nodiscard]] wire::target_group at(const char* host, std::uint16_t port, std::size_t count = 1) const {
    wire::target_group group(*this, count);
    group.settings = std::make_shared<const wire::network_group>(wire::network_address{host, port});
    return group;
  }

 private:
  struct played_module final : wire::network_module {
    [[nodiscard]] const char* name() const noexcept override { return "waiting"; }
    [[nodiscard]] std::string why_insecure() const override { return insecure; }
    [[nodiscard]] std::string secured_by(wire::tls_records) const override { return {}; }
    [[nodiscard]] std::unique_ptr<wire::network> open(const wire::network_options&, base::heap*,
                                                      wire::observer&) override {
      return nullptr;
    }
    [[nodiscard]] std::unique_ptr<wire::listener> listen(const wire::listen_options&) override { return nullptr; }
    std::string insecure;
  };
  mutable played_module module_;
};

/// A host, or another node, alone.
class lone_node {
 public:
  explicit lone_node(node_t self = 0, std::size_t nodes = 1)
      : node_(self, nodes, std::make_unique<base::heap>(base::heap::make_file())) {}
  detail::engine& operator*() noexcept { return node_; }
  detail::engine* operator->() noexcept { return &node_; }

 private:
  detail::engine node_;
};

/// The text of the config_error that `act` throws.
template <class Act>
std::string problem_with(Act act) {
  try {
    act();
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

}  // namespace ham::test
