// HAM, by its public headers: one target over shared memory, default settings but for the cores.
// link: ham::ham
#include <ham/offload.hpp>

#include <string>

#include "common/program.hpp"

namespace {

namespace offload = ham::offload;
using namespace ham::peers;

std::uint64_t touch() { return execute(op::touch, {}); }
std::uint64_t with_argument(op what, std::span<const std::byte> argument) { return execute(what, argument); }
std::uint64_t with_block(op what, offload::buffer_ptr<std::byte> block, std::uint64_t bytes) {
  return execute(what, {block.get(), bytes});
}

class ham_client final : public client {
 public:
  /// Beyond it an argument is put into memory of the target that is there already.
  static constexpr std::size_t largest_in_message = 65536;

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    if (argument.empty() && what == op::touch) return offload::sync(1, ham::fn<&touch>);
    if (argument.size() <= largest_in_message) return offload::sync(1, ham::fn<&with_argument>, what, argument);
    offload::put_sync(argument.data(), block_.ptr(), argument.size());
    return offload::sync(1, ham::fn<&with_block>, what, block_.ptr(), argument.size());
  }

  std::uint64_t call_many(std::size_t count) override {
    futures_.clear();
    for (std::size_t i = 0; i < count; ++i) futures_.push_back(offload::async(1, ham::fn<&touch>));
    std::uint64_t sum = 0;
    for (auto& one : futures_) sum += one.get();
    return sum;
  }

 private:
  offload::buffer<std::byte> block_{1, max_bytes};
  std::vector<offload::future<std::uint64_t>> futures_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const options given = parse(argc, argv);
    ham::runtime_options defaults;
    defaults.nodes = "shm:1";
    defaults.cpu_affinity = std::to_string(given.client_core) + "," + std::to_string(given.server_core);
    const ham::runtime job(defaults);
    ::alarm(120);
    ham_client peer;
    return run_client(peer, {"ham", HAM_VERSION_STRING, "shm:1, sync, async; put for 64 MiB"}, given);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "ham: %s\n", failure.what());
    return 1;
  }
}
