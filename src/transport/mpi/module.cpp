// The entry point of the module: the one function that the library resolves in it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/settings.hpp"
#include "ham/error.hpp"
#include "transport/mpi/group.hpp"
#include "transport/mpi/spawning.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

transport_options options_for(node_t first) {
  transport_options how;
  how.first = first;
  how.max_pause_ns = 1000 * base::number_of(base::setting::mpi_pause).value_or(2000);
  how.end_timeout_ns = 1'000'000'000 * base::number_of(base::setting::mpi_end_timeout).value_or(60);
  return how;
}

/// How many processes the launcher says that it has started with this one; 0: it does not say.
int launched_processes() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const char* const count = base::foreign_variable(name)) return std::atoi(count);
  }
  return 0;
}

/// An MPI that another one's launcher has started takes every process for a job of its own.
void expect_company(const std::string& version) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int launched = launched_processes();
  if (size > 1 || launched <= 1) return;
  throw config_error("the launcher has started " + std::to_string(launched) + " processes, but " + version +
                     " finds each of them alone (it is not the launcher's MPI); start with its own mpirun, or name "
                     "the launcher's in HAM_MPI_MODULE (openmpi, mpich)");
}

class mpi_module final : public group_module {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "mpi"; }

  [[nodiscard]] std::string version() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string first(text, static_cast<std::size_t>(length));
    first.resize(std::min(first.size(), first.find_first_of(",\n")));
    constexpr std::string_view mpich_word = " Version:\t";
    if (const std::size_t at = first.find(mpich_word); at != std::string::npos)
      first.replace(at, mpich_word.size(), " ");
    return first;
  }

  void use_settings(std::vector<base::program_setting> said) override { base::use_program_settings(std::move(said)); }

  [[nodiscard]] std::unique_ptr<process_group> join(const void* communicator) override {
    const transport_options how = options_for(1);
    session_.begin();
    MPI_Comm among = MPI_COMM_WORLD;
    if (communicator != nullptr)
      std::memcpy(&among, communicator, sizeof among);
    else if (session_.started_here())
      expect_company(version());
    if (among == MPI_COMM_NULL) throw config_error("the communicator of the runtime is MPI_COMM_NULL");
    return std::make_unique<mpi_group>(session_, duplicate(among), how);
  }

  [[nodiscard]] std::unique_ptr<process_group> spawn(const std::vector<std::string>& command, std::size_t count,
                                                     node_t first) override {
    const transport_options how = options_for(first);
    session_.begin();
    return std::make_unique<mpi_group>(session_, spawn_processes(command, count, first), how);
  }

  [[nodiscard]] std::unique_ptr<process_group> join_parent() override {
    session_.begin();
    node_t first = 1;
    const MPI_Comm own = connect_parent(first);
    return std::make_unique<mpi_group>(session_, own, options_for(first));
  }

  void finish(const std::string* failure) noexcept override {
    if (failure == nullptr)
      session_.finish();
    else
      session_.finish_failed(*failure);
  }

 private:
  session session_;
};

}  // namespace
}  // namespace ham::transport::mpi

extern "C" [[gnu::visibility("default")]] ham::transport::group_module* ham_group_module(std::uint32_t version) {
  static ham::transport::mpi::mpi_module module;
  return version == ham::transport::group_interface ? &module : nullptr;
}
