// Ranks on the same machine: their memory can be mapped, and they share a count of those that are awake.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory_file.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::mpi {

class neighbours {
 public:
  /// All ranks of `among` call it. `heap_file`: of this process's heap, or -1.
  neighbours(MPI_Comm among, int heap_file);

  [[nodiscard]] bool on_this_machine(int rank) const noexcept;
  /// All ranks are.
  [[nodiscard]] bool only_this_machine() const noexcept;
  [[nodiscard]] bool has_heap(int rank) const noexcept { return of_[static_cast<std::size_t>(rank)].heap_file >= 0; }
  /// Process id of a rank on this machine; negative: elsewhere.
  [[nodiscard]] std::int64_t pid(int rank) const noexcept;
  /// Access to the heap of a rank on this machine, or nullptr.
  [[nodiscard]] std::unique_ptr<remote_memory> memory_of(int rank) const;

  void set_awake(bool on) noexcept;
  /// More ranks of this machine want to run than it has cores.
  [[nodiscard]] bool oversubscribed() const noexcept {
    return awake_ != nullptr && awake_->load(std::memory_order_relaxed) > cores_;
  }

 private:
  struct rank_info {
    char machine[48];  // id of the boot, and of the name space of process ids
    std::int64_t pid;
    std::int64_t heap_file, heap_id;
    std::int64_t count_file, count_id;
    std::array<std::uint64_t, 16> cores;  // that it may run on, a bit each; none: it cannot be said
  };
  [[nodiscard]] rank_info own_info(int heap_file) const;
  [[nodiscard]] std::int32_t cores_of_all() const;

  int self_ = 0;
  std::vector<rank_info> of_;
  base::unique_fd count_file_;
  base::mapping count_;
  std::atomic<std::int32_t>* awake_ = nullptr;
  bool counted_ = false;
  std::int32_t cores_ = 1;  // of all ranks of this machine together: launchers bind each to one of its own
};

}  // namespace ham::transport::mpi
