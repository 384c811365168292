// The door of the module: the one function that the library looks up in it.
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "ham/error.hpp"
#include "transport/mpi/mpi_group.hpp"
#include "transport/mpi/spawning.hpp"

namespace ham::transport::mpi {
namespace {

/// A number from the environment, or `usual`; `words` names the one text that stands for 0.
std::int64_t number_from(const char* name, std::int64_t usual, const char* word, std::int64_t most) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return usual;
  if (std::strcmp(text, word) == 0) return 0;
  std::int64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || stop != end || number < 1 || number > most) {
    throw config_error(std::string(name) + "=" + text + " is neither " + word + " nor a number from 1 to " +
                       std::to_string(most));
  }
  return number;
}

transport_options options_for(node_t first) {
  transport_options how;
  how.first = first;
  how.longest_pause_ns = 1000 * number_from("HAM_MPI_PAUSE", 2000, "spin", 1'000'000);
  how.end_timeout_ns = 1'000'000'000 * number_from("HAM_MPI_END_TIMEOUT", 60, "never", 1'000'000);
  return how;
}

class mpi_module final : public group_module {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "mpi"; }

  [[nodiscard]] std::string version() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string whole(text, static_cast<std::size_t>(length));
    return whole.substr(0, whole.find_first_of(",\n"));
  }

  [[nodiscard]] std::unique_ptr<process_group> join(const void* communicator) override {
    const transport_options how = options_for(1);
    session_.begin();
    MPI_Comm among = MPI_COMM_WORLD;
    if (communicator != nullptr) std::memcpy(&among, communicator, sizeof among);
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
    const MPI_Comm own = meet_parent(first);
    return std::make_unique<mpi_group>(session_, own, options_for(first));
  }

  void finish() noexcept override { session_.finish(); }

 private:
  session session_;
};

}  // namespace
}  // namespace ham::transport::mpi

extern "C" [[gnu::visibility("default")]] ham::transport::group_module* ham_group_module(std::uint32_t version) {
  static ham::transport::mpi::mpi_module module;
  return version == ham::transport::group_interface ? &module : nullptr;
}
