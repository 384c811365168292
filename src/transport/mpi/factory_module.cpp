// Which MPI it is.
#include "transport/mpi/factory_module.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/privileges.hpp"
#include "base/settings.hpp"
#include "transport/common/module_file.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

constinit std::atomic<group_module*> loaded{nullptr};

bool is_set(const char* name) noexcept { return base::foreign_variable(name) != nullptr; }

/// The MPI whose functions this program has already; may be asked before MPI_Init.
std::string linked_mpi() {
  using get_version = int (*)(char*, int*);
  const auto ask = reinterpret_cast<get_version>(::dlsym(RTLD_DEFAULT, "MPI_Get_library_version"));
  if (ask == nullptr) return {};
  std::array<char, 1 << 14> text{};
  int length = 0;
  if (ask(text.data(), &length) != 0) return {};
  const std::string_view version(text.data());
  return version.find("Open MPI") != std::string_view::npos ? "openmpi" : "mpich";
}

std::string launching_mpi() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  if (is_set("PMI_RANK") && !is_set("PMIX_RANK")) return "mpich";
  return {};
}

group_module* open_named(const std::string& name) {
  const bool file = name.find('/') != std::string::npos || name.ends_with(".so");
  return open_module<group_module_entry>("transport mpi", file ? name : "libham_mpi_" + name + ".so",
                                         "ham_group_module", group_interface);
}

/// Two MPIs in one process call each other's functions.
void expect_same(std::string_view wanted, std::string_view linked) {
  const std::string_view file = wanted.substr(wanted.rfind('/') + 1);
  for (const std::string_view other : {"openmpi", "mpich"}) {
    if (linked.empty() || other == linked || file.find(other) == std::string_view::npos) continue;
    throw config_error("HAM_MPI_MODULE=" + std::string(wanted) + " does not fit (this program is linked with " +
                       std::string(linked) + " itself); unset it");
  }
}

group_module* open_best() {
  std::string known = linked_mpi();
  const std::string wanted = base::text_of(base::setting::mpi_module);
  if (!wanted.empty()) {
    expect_same(wanted, known);
    return open_named(wanted);
  }
  if (known.empty()) known = launching_mpi();
  if (!known.empty()) return open_named(known);
  try {
    return open_named("openmpi");
  } catch (const config_error&) {
    return open_named("mpich");
  }
}

}  // namespace

bool started_by_mpi() noexcept {
  const std::string rank = base::text_of(base::setting::mpi_rank_pid);
  if (!rank.empty() && std::atoi(rank.c_str()) != ::getpid()) return false;  // a rank started this process for itself
  return is_set("OMPI_COMM_WORLD_RANK") || is_set("PMIX_RANK") || (is_set("PMI_RANK") && is_set("PMI_SIZE"));
}

group_module& load_group_module() {
  static std::mutex mutex;
  std::lock_guard guard(mutex);
  if (loaded.load() == nullptr) {
    base::refuse_if_privileged("MPI is asked for, and MPI itself takes names of code from the environment");
    loaded = open_best();
  }
  loaded.load()->use_settings(base::program_settings());
  return *loaded;
}

std::unique_ptr<process_group> join_all_ranks(const void* communicator) {
  auto group = load_group_module().join(communicator);
  ::setenv(base::info_of(base::setting::mpi_rank_pid).variable, std::to_string(::getpid()).c_str(), 1);
  return group;
}

void finish_group_module(const std::string* failure) noexcept {
  if (group_module* const module = loaded.load()) module->finish(failure);
}

}  // namespace ham::transport::mpi
