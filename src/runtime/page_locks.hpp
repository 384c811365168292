// Memory of other processes that is mapped here and page-locked for copies of the device: which, and when that is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "runtime/absence_request.hpp"
#include "transport/device_memory.hpp"

namespace ham::inline v1::detail {

/// To lock pages waits for the resident kernel to leave: who needs pages locked asks, and goes on without, until the
/// thread that follows the kernel has locked them. wanted() says whether there are any to lock. All members may be
/// called from any thread.
class page_locks : public absence_request {
 public:
  static constexpr std::size_t max_places = 4096;  ///< what is asked for beyond is never locked

  explicit page_locks(transport::device_memory& of) noexcept : of_(of) {}

  /// Whether the device copies from and to this memory directly, which stays mapped as long as the process. If nobody
  /// has asked for it so far: not yet. Throws std::bad_alloc.
  [[nodiscard]] bool has(std::span<std::byte> pages);
  /// Locks what was asked for. The resident kernel is absent, and stays so meanwhile; one thread at a time.
  void lock_wanted() noexcept;

 private:
  enum class state : std::uint8_t { wanted, locked, refused };
  using place = std::pair<std::byte*, std::size_t>;

  transport::device_memory& of_;
  std::mutex mutex_;  // guards what follows
  std::map<place, state> all_;
};

}  // namespace ham::detail
