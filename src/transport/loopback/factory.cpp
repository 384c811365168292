// loopback in HAM_NODES: loopback[:COUNT].
#include "transport/in_process.hpp"
#include "transport/loopback/transport.hpp"

namespace ham::inline v1::transport {
namespace {

class loopback_nodes final : public node_group {
 public:
  explicit loopback_nodes(std::size_t nodes) : shared_(std::make_shared<loopback::cluster>(nodes)) {}
  [[nodiscard]] std::unique_ptr<transport> open(node_t self, base::heap* memory, observer& to) override {
    return std::make_unique<loopback::node_transport>(shared_, self, memory, to);
  }

 private:
  std::shared_ptr<loopback::cluster> shared_;
};

class loopback_transport final : public in_process_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "loopback"; }
  [[nodiscard]] std::string_view example() const noexcept override { return "loopback:4"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"loopback[:COUNT]", "threads of this process, for tests; not mixed with others"};
  }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this, text.take_count());
    text.expect_no_cores();
    text.expect_end();
    return group;
  }
  [[nodiscard]] availability probe() const override { return {}; }
  [[nodiscard]] std::string trial() const override { return "loopback:1"; }
  [[nodiscard]] bool safe_for_privileged() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<node_group> make_job(std::size_t nodes) const override {
    return std::make_unique<loopback_nodes>(nodes);
  }
};

}  // namespace

const factory& loopback_factory() {
  static const loopback_transport one;
  return one;
}

}  // namespace ham::transport
