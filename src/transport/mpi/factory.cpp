// mpi in HAM_NODES: mpi[:COUNT], the ranks that MPI's launcher has started; and parent, in processes that a host has
// started through MPI. Part of the library, as factory_module.cpp is; the rest of this folder is the modules.
#include "transport/launched_factory.hpp"

#include "transport/mpi/factory_module.hpp"

namespace ham::inline v1::transport {
namespace {

class mpi_transport : public launched_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "mpi"; }
  [[nodiscard]] std::string_view example() const noexcept override { return "mpi"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"mpi[:COUNT]", "the ranks of this mpirun or srun; comes first"};
  }
  /// A count of 0: as many as there are.
  [[nodiscard]] target_group parse(group_text& text) const final {
    target_group group(*this, text.take_count(0));
    text.expect_no_cores();
    text.expect_end();
    return group;
  }
  [[nodiscard]] availability probe() const final {
    return found_by([]() -> availability { return {true, {}, mpi::load_group_module().version()}; });
  }
  [[nodiscard]] bool starts_programs() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<process_group> join(const void* communicator) const override {
    return mpi::join_all_ranks(communicator);
  }
  [[nodiscard]] std::unique_ptr<process_group> spawn(std::vector<std::string> command, std::size_t count,
                                                     node_t first) const override {
    if (count == 0) throw config_error("say how many processes MPI shall start, as in mpi:4");
    command.emplace_back("--ham-nodes=parent");
    return mpi::load_group_module().spawn(command, count, first);
  }
  void finish(const std::string* failure) const noexcept override { mpi::finish_group_module(failure); }
  [[nodiscard]] std::string default_nodes() const override { return mpi::started_by_mpi() ? "mpi" : ""; }
};

class parent_transport final : public mpi_transport {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "parent"; }
  [[nodiscard]] std::string_view example() const noexcept override { return {}; }
  [[nodiscard]] help_line help() const noexcept override { return {}; }
  [[nodiscard]] bool starts_programs() const noexcept override { return false; }
  [[nodiscard]] std::unique_ptr<process_group> join(const void*) const override {
    return mpi::load_group_module().join_parent();
  }
  void finish(const std::string*) const noexcept override {}  // mpi does
  [[nodiscard]] std::string default_nodes() const override { return {}; }
};

}  // namespace

const factory& mpi_factory() {
  static const mpi_transport one;
  return one;
}

const factory& mpi_parent_factory() {
  static const parent_transport one;
  return one;
}

}  // namespace ham::transport
