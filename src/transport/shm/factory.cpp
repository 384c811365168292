// shm in HAM_NODES: shm[:COUNT][@CORES].
#include <utility>

#include "transport/common/invited_target.hpp"
#include "transport/common/joining.hpp"
#include "transport/shm/factories.hpp"
#include "transport/shm/host_transport.hpp"
#include "transport/shm/target_transport.hpp"

namespace ham::inline v1::transport {
namespace {

class shm_host final : public host_side {
 public:
  explicit shm_host(shm::host_transport& carrier) noexcept : carrier_(carrier) {}

  void start(const target_group&, std::vector<start_plan> plans, job_size job) override {
    std::vector<shm::target_plan> all;
    for (start_plan& one : plans) {
      all.push_back({one.node, std::move(one.command), std::move(one.cores), std::move(one.environment), one.output});
    }
    carrier_.start(std::move(all), job.nodes);
  }
  void end(node_t node, std::chrono::milliseconds timeout) override { carrier_.end(node, timeout); }
  [[nodiscard]] bool has_place_of(node_t node) const override { return carrier_.has_place_of(node); }
  void set_home_core(node_t node, int core) noexcept override { carrier_.set_home_core(node, core); }

 private:
  shm::host_transport& carrier_;
};

class shm_transport final : public starting_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }
  [[nodiscard]] std::string_view example() const noexcept override { return "shm:2 or shm:2@2+3"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"shm[:COUNT][@CORE[+CORE...]]", "this program, on this machine"};
  }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this, text.take_count());
    group.cores = text.take_cores();
    text.expect_end();
    return group;
  }
  [[nodiscard]] availability probe() const override { return shared_memory_here(); }
  [[nodiscard]] std::string trial() const override { return "shm:1"; }
  [[nodiscard]] std::string default_nodes() const override { return "shm:1"; }
  [[nodiscard]] bool starts_programs() const noexcept override { return true; }
  [[nodiscard]] bool safe_for_privileged() const noexcept override { return true; }

  [[nodiscard]] bool starts_own_program() const noexcept override { return true; }
  [[nodiscard]] company reaches() const noexcept override { return company::targets; }
  [[nodiscard]] bool redirects_output() const noexcept override { return true; }
  [[nodiscard]] bool places_nodes() const noexcept override { return true; }
  [[nodiscard]] host_parts make_host(node_t self, base::heap& memory, observer& to) const override {
    auto carrier = shm::host_transport::make(self, memory.fd(), to);
    auto side = std::make_unique<shm_host>(*carrier);
    return {std::move(carrier), std::move(side)};
  }
  [[nodiscard]] std::unique_ptr<target_side> make_target(std::string_view told) const override {
    auto from = shm::invitation::accept(control_fd_of(told));
    const node_t self = from.node;
    const node_t host = from.host;
    const std::size_t nodes = from.nodes;
    return std::make_unique<invited_target<shm::target_transport, shm::invitation>>(std::move(from), self, host, nodes);
  }
};

}  // namespace

const factory& shm_factory() {
  static const shm_transport one;
  return one;
}

}  // namespace ham::transport
