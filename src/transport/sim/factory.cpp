// sim[:COUNT] and islands[:COUNT] in HAM_NODES; in programs that simulate jobs only.
#include <memory>
#include <utility>

#include "transport/sim/network.hpp"
#include "transport/sim/transport.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport {
namespace {

sim::network& network_here() {
  sim::network* const one = sim::current_network();
  if (one == nullptr) throw config_error("there is no simulation in this process; choose another transport");
  return *one;
}

/// Of a node with a device, whose memory is reached in messages, as that of the process of any device.
class device_transport final : public sim::node_transport, public device_owner {
 public:
  device_transport(sim::network& among, node_t self, base::heap* memory, observer& to, sim::node_device device)
      : node_transport(among, self, device.memory == nullptr ? memory : nullptr, to, true),
        device_(std::move(device)) {}

  [[nodiscard]] const char* device_type() const noexcept override { return "cuda-emulated"; }
  [[nodiscard]] std::unique_ptr<device_driver> take_device() override { return std::move(device_.driver); }
  [[nodiscard]] std::unique_ptr<device_memory> take_memory() override { return std::move(device_.memory); }
  [[nodiscard]] limits device_limits() const noexcept override { return device_.limits; }

 private:
  sim::node_device device_;
};

/// Of a simulated process.
class sim_target final : public target_side {
 public:
  sim_target(sim::network& among, node_t self, node_t host, std::size_t nodes)
      : network_(among), self_(self), host_(host), nodes_(nodes) {}

  [[nodiscard]] node_t self() const noexcept override { return self_; }
  [[nodiscard]] node_t host() const noexcept override { return host_; }
  [[nodiscard]] std::size_t nodes() const noexcept override { return nodes_; }
  [[nodiscard]] std::unique_ptr<base::heap> take_memory() override {
    auto made = target_side::take_memory();
    memory_ = made.get();
    return made;
  }
  [[nodiscard]] std::unique_ptr<transport> open(observer& to) override {
    sim::node_device device = network_.directing().device_of(self_);
    std::unique_ptr<sim::node_transport> made;
    if (device.driver == nullptr)
      made = std::make_unique<sim::node_transport>(network_, self_, memory_, to);
    else
      made = std::make_unique<device_transport>(network_, self_, memory_, to, std::move(device));
    transport_ = made.get();
    return made;
  }
  void join() override { transport_->connect(host_); }

 private:
  sim::network& network_;
  node_t self_;
  node_t host_;
  std::size_t nodes_;
  base::heap* memory_ = nullptr;
  sim::node_transport* transport_ = nullptr;
};

class sim_host final : public host_side {
 public:
  sim_host(sim::network& among, node_t self, company reached) : network_(among), self_(self), reached_(reached) {}

  void start(const target_group&, std::vector<start_plan> plans, job_size job) override {
    for (const start_plan& one : plans) {
      network_.directing().start(std::make_unique<sim_target>(network_, one.node, self_, job.nodes), reached_);
    }
  }
  void end(node_t node, std::chrono::milliseconds timeout) override { network_.directing().end(node, timeout); }

 private:
  sim::network& network_;
  node_t self_;
  company reached_;
};

class sim_transport final : public starting_factory {
 public:
  sim_transport(std::string_view name, std::string_view example, help_line help, company reached)
      : name_(name), example_(example), help_(help), reached_(reached) {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string_view example() const noexcept override { return example_; }
  [[nodiscard]] help_line help() const noexcept override { return help_; }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this, text.take_count());
    text.expect_no_cores();
    text.expect_end();
    return group;
  }
  [[nodiscard]] availability probe() const override {
    return found_by([] {
      static_cast<void>(network_here());
      return availability{};
    });
  }
  /// All programs are this one.
  [[nodiscard]] bool starts_programs() const noexcept override { return true; }
  [[nodiscard]] company reaches() const noexcept override { return reached_; }
  [[nodiscard]] host_parts make_host(node_t self, base::heap& memory, observer& to) const override {
    sim::network& among = network_here();
    return {std::make_unique<sim::node_transport>(among, self, &memory, to),
            std::make_unique<sim_host>(among, self, reached_)};
  }

 private:
  std::string_view name_;
  std::string_view example_;
  help_line help_;
  company reached_;
};

}  // namespace

const factory& sim_factory() {
  static const sim_transport one("sim", "sim:3", {"sim[:COUNT]", "simulated processes"}, company::targets);
  return one;
}

const factory& islands_factory() {
  static const sim_transport one("islands", "islands:3",
                                 {"islands[:COUNT]", "simulated processes that reach nobody but the host"},
                                 company::nobody);
  return one;
}

}  // namespace ham::transport
