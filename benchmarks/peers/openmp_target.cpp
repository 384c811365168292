// OpenMP target with LLVM's host plug-in: offloads to this very process. Tasks with nowait are the calls under way.
#include <omp.h>

#include "common/program.hpp"

namespace {

using namespace ham::peers;

#pragma omp declare target
std::uint64_t touch_or_sum(bool all, const std::byte* data, std::size_t bytes) {
  if (!all) return 1 + bytes + static_cast<std::uint64_t>(data[0]) + static_cast<std::uint64_t>(data[bytes - 1]);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) sum += static_cast<std::uint64_t>(data[i]);
  return sum;
}
#pragma omp end declare target

class openmp_client final : public client {
 public:
  openmp_client() : block_(omp_target_alloc(max_bytes, omp_get_default_device())) {
    if (block_ == nullptr) throw std::runtime_error("omp_target_alloc failed");
  }
  ~openmp_client() override { omp_target_free(block_, omp_get_default_device()); }

  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    std::uint64_t answer = 0;
    if (argument.empty()) {
#pragma omp target map(from : answer)
      answer = 1;
      return what == op::touch ? answer : 0;
    }
    const std::byte* const data = argument.data();
    const std::size_t bytes = argument.size();
    const bool all = what == op::sum;
    if (bytes > inline_bytes) return call_with_block(all, argument);
#pragma omp target map(to : data [0:bytes]) map(from : answer)
    answer = touch_or_sum(all, data, bytes);
    return answer;
  }

  std::uint64_t call_many(std::size_t count) override {
    answers_.assign(count, 0);
    std::uint64_t* const answers = answers_.data();
#pragma omp target data map(from : answers [0:count])
    {
      for (std::size_t i = 0; i < count; ++i) {
#pragma omp target nowait firstprivate(i)
        answers[i] = 1;
      }
#pragma omp taskwait
    }
    return std::accumulate(answers_.begin(), answers_.end(), std::uint64_t{0});
  }

  [[nodiscard]] bool has_server() const override { return false; }

 private:
  /// Long arguments go to memory of the device that is there already.
  std::uint64_t call_with_block(bool all, std::span<const std::byte> argument) {
    std::uint64_t answer = 0;
    const std::size_t bytes = argument.size();
    const int host = omp_get_initial_device();
    if (omp_target_memcpy(block_, argument.data(), bytes, 0, 0, omp_get_default_device(), host) != 0) {
      throw std::runtime_error("omp_target_memcpy failed");
    }
    const auto* const block = static_cast<const std::byte*>(block_);
#pragma omp target is_device_ptr(block) map(from : answer)
    answer = touch_or_sum(all, block, bytes);
    return answer;
  }

  void* block_;
  std::vector<std::uint64_t> answers_;
};

}  // namespace

int main(int argc, char** argv) {
  const options given = parse(argc, argv);
  try {
    ::alarm(120);
    int on_host = 1;
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    if (omp_get_num_devices() == 0 || on_host != 0) throw std::runtime_error("no device: the host plug-in is missing");
    openmp_client peer;
    const std::string version = "LLVM " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
    return run_client(peer, {"openmp_target", version, "host plug-in (x86_64): a target region in the same process"},
                      given);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "openmp_target: %s\n", failure.what());
    return 1;
  }
}
