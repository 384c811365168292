// emulated in HAM_NODES: emulated[:COUNT][/KEY=VALUE]...[@CORES].
#include <utility>

#include "transport/common/invited_target.hpp"
#include "transport/common/joining.hpp"
#include "transport/emulated/host_transport.hpp"
#include "transport/emulated/settings.hpp"
#include "transport/emulated/target_transport.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport {
namespace {

class emulated_host final : public host_side {
 public:
  explicit emulated_host(emulated::host_transport& carrier) noexcept : carrier_(carrier) {}

  void start(const target_group& group, std::vector<start_plan> plans, job_size job) override {
    const emulated::medium& costs = static_cast<const emulated::group_medium&>(*group.settings).costs;
    std::vector<emulated::target_plan> all;
    for (start_plan& one : plans) {
      all.push_back({{one.node, std::move(one.command), std::move(one.cores), one.output}, costs, job.living});
    }
    carrier_.start(all, job.nodes);
  }
  void end(node_t node, std::chrono::milliseconds timeout) override { carrier_.end(node, timeout); }

 private:
  emulated::host_transport& carrier_;
};

class emulated_transport final : public starting_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "emulated"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"emulated[:COUNT][/KEY=VALUE...][@CORE[+CORE...]]",
            "this program behind an emulated PCIe link; keys are initiator, posted, read, write, setup, to, from"};
  }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this, text.take_count());
    const std::string_view settings = text.take_settings();
    group.cores = text.take_cores();
    text.expect_end();
    group.settings = std::make_shared<const emulated::group_medium>(emulated::parse_medium(settings));
    return group;
  }
  [[nodiscard]] availability probe() const override { return shared_memory_here(); }
  [[nodiscard]] std::string trial() const override { return "emulated:1"; }

  [[nodiscard]] bool starts_own_program() const noexcept override { return true; }
  [[nodiscard]] bool redirects_output() const noexcept override { return true; }
  [[nodiscard]] host_parts make_host(node_t self, base::heap& memory, observer& to) const override {
    auto carrier = std::make_unique<emulated::host_transport>(self, memory.fd(), to);
    auto side = std::make_unique<emulated_host>(*carrier);
    return {std::move(carrier), std::move(side)};
  }
  [[nodiscard]] std::unique_ptr<target_side> make_target(std::string_view told) const override {
    auto from = emulated::invitation::accept(control_fd_of(told));
    const node_t self = from.said.node;
    const node_t host = from.said.host;
    const std::size_t nodes = from.said.nodes;
    return std::make_unique<invited_target<emulated::target_transport, emulated::invitation>>(std::move(from), self,
                                                                                              host, nodes);
  }
};

}  // namespace

const factory& emulated_factory() {
  static const emulated_transport one;
  return one;
}

}  // namespace ham::transport
