// emulated in HAM_NODES: emulated[:COUNT][/KEY=VALUE]...[@CORES].
#include <algorithm>
#include <utility>

#include "base/memory_file.hpp"
#include "base/numbers.hpp"
#include "transport/emulated/host_transport.hpp"
#include "transport/emulated/settings.hpp"
#include "transport/emulated/target_transport.hpp"
#include "transport/starting.hpp"

namespace ham::transport {
namespace {

class emulated_host final : public host_side {
 public:
  explicit emulated_host(emulated::host_transport& carrier) noexcept : carrier_(carrier) {}

  void start(const target_group& group, std::vector<start_plan> plans, job_size job) override {
    const emulated::medium& costs = static_cast<const emulated::group_medium&>(*group.settings).costs;
    std::vector<emulated::target_plan> all;
    for (start_plan& one : plans) {
      all.push_back({{one.node, std::move(one.command), std::move(one.cores)}, costs, job.living});
    }
    carrier_.start(all, job.nodes);
  }
  void end(node_t node, std::chrono::milliseconds timeout) override { carrier_.end(node, timeout); }

 private:
  emulated::host_transport& carrier_;
};

class emulated_target final : public target_side {
 public:
  explicit emulated_target(int control_fd) : invitation_(emulated::invitation::accept(control_fd)) {}

  [[nodiscard]] node_t self() const noexcept override { return self_; }
  [[nodiscard]] std::size_t nodes() const noexcept override { return nodes_; }
  [[nodiscard]] std::unique_ptr<base::heap> take_memory() override {
    return std::make_unique<base::heap>(std::move(invitation_.own_heap));
  }
  [[nodiscard]] std::unique_ptr<transport> open(observer& to) override {
    auto made = std::make_unique<emulated::target_transport>(std::move(invitation_), to);
    carrier_ = made.get();
    return made;
  }
  void join() override { carrier_->join(); }

 private:
  emulated::invitation invitation_;
  const node_t self_ = invitation_.said.node;
  const std::size_t nodes_ = invitation_.said.nodes;
  emulated::target_transport* carrier_ = nullptr;
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
    std::string_view settings;
    if (text.rest().starts_with('/')) {
      settings = text.rest().substr(1, std::min(text.rest().find('@'), text.rest().size()) - 1);
      text.skip(settings.size() + 1);
    }
    group.cores = text.take_cores();
    text.expect_end();
    group.settings = std::make_shared<const emulated::group_medium>(emulated::parse_medium(settings));
    return group;
  }
  [[nodiscard]] availability probe() const override {
    try {
      static_cast<void>(base::make_memory_file("ham-probe", 4096));
      return {};
    } catch (const config_error& problem) {
      return {false, problem.what(), {}};
    }
  }
  [[nodiscard]] std::string trial() const override { return "emulated:1"; }

  [[nodiscard]] bool starts_own_program() const noexcept override { return true; }
  [[nodiscard]] host_parts make_host(base::heap& memory, observer& to) const override {
    auto carrier = std::make_unique<emulated::host_transport>(memory.fd(), to);
    auto side = std::make_unique<emulated_host>(*carrier);
    return {std::move(carrier), std::move(side)};
  }
  [[nodiscard]] std::unique_ptr<target_side> make_target(std::string_view told) const override {
    return std::make_unique<emulated_target>(static_cast<int>(base::parse_whole(told, 0, 1 << 30).value_or(-1)));
  }
};

}  // namespace

const factory& emulated_factory() {
  static const emulated_transport one;
  return one;
}

}  // namespace ham::transport
