// What this rank puts to and gets from the memory of others.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "transport/mpi/bulk_format.hpp"
#include "transport/mpi/bulk_parts.hpp"
#include "transport/mpi/short_messages.hpp"

namespace ham::inline v1::transport::mpi {

/// One put or get. Any thread may see whether it is over, and give it up.
class bulk_access {
 public:
  struct target {
    int rank;
    std::uint64_t address, tag;
    const std::atomic<bool>* lost;  ///< says that the rank is gone; outlives the transport's bulk
  };
  bulk_access(bulk_verb verb, const target& where, std::span<std::byte> local) noexcept
      : verb_(verb), where_(where), local_(local) {}

  [[nodiscard]] bool over() const noexcept { return over_.load(std::memory_order_acquire); }
  /// When it is over.
  [[nodiscard]] access_result result() const noexcept { return result_; }
  /// Nobody waits for it any more.
  void give_up() noexcept { given_up_.store(true, std::memory_order_relaxed); }

 private:
  friend class bulk_client;
  enum class stage : std::uint8_t { asked, moving, confirming, cancelled };

  [[nodiscard]] bool unwanted() const noexcept {
    return where_.lost->load(std::memory_order_relaxed) || given_up_.load(std::memory_order_relaxed);
  }
  void settle(access_result how) noexcept {
    if (over()) return;
    result_ = how;
    over_.store(true, std::memory_order_release);
  }

  const bulk_verb verb_;
  const target where_;
  const std::span<std::byte> local_;
  std::atomic<bool> given_up_{false};
  std::atomic<bool> over_{false};
  access_result result_ = access_result::lost;

  // Of the client, while it is under way.
  stage at_ = stage::asked;
  std::uint64_t id_ = 0;
  std::byte heard_{};
  MPI_Request hearing_ = MPI_REQUEST_NULL;
  bulk_parts parts_;
  std::int64_t cancelled_at_ns_ = 0;
};

/// One thread at a time, which may call MPI, but for ask().
class bulk_client {
 public:
  explicit bulk_client(MPI_Comm among);
  ~bulk_client();
  bulk_client(const bulk_client&) = delete;
  bulk_client& operator=(const bulk_client&) = delete;

  /// Queues one; it begins with the next begin_queued() or advance(). Any thread. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<bulk_access> ask(bulk_verb verb, const bulk_access::target& where,
                                                 std::span<std::byte> local);
  /// Sends the requests of what is queued, as far as their ranks have not enough to do. True if there was one.
  bool begin_queued() noexcept;
  /// Moves all on. True if one came a step further.
  bool advance() noexcept;
  /// Whether any is not over.
  [[nodiscard]] bool busy() noexcept;
  /// Whether memory of other ranks may be read by MPI for this one.
  [[nodiscard]] bool receives() const noexcept;
  /// Nobody waits for anything any more.
  void end() noexcept { ends_ = true; }

 private:
  using shared_access = std::shared_ptr<bulk_access>;
  enum class news : std::uint8_t { none, step, end };

  void begin(bulk_access& one);
  void listen(bulk_access& one) noexcept;
  [[nodiscard]] bool has_heard(bulk_access& one) noexcept;
  [[nodiscard]] news step(bulk_access& one) noexcept;
  [[nodiscard]] news on_permission(bulk_access& one) noexcept;
  [[nodiscard]] news on_moved(bulk_access& one, bulk_parts::state now) noexcept;
  [[nodiscard]] news cancel(bulk_access& one) noexcept;
  [[nodiscard]] news await_cancelled(bulk_access& one) noexcept;
  [[nodiscard]] bool unwanted(const bulk_access& one) const noexcept { return ends_ || one.unwanted(); }

  MPI_Comm among_;
  std::mutex mutex_;  // queued_
  std::list<shared_access> queued_;
  std::list<shared_access> under_way_;
  std::vector<unsigned> under_way_to_;  // by rank
  std::uint64_t next_id_ = 0;
  bool ends_ = false;
  short_messages requests_;
};

}  // namespace ham::transport::mpi
