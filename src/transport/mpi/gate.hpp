// Which threads may call MPI, and when: what MPI_Init_thread granted.
#pragma once

#include <mpi.h>

#include <mutex>
#include <thread>

namespace ham::inline v1::transport::mpi {

/// One per process. With MPI_THREAD_MULTIPLE it costs a branch.
class gate {
 public:
  /// After MPI_Init, on a thread that may call MPI.
  void set(int level, bool main_thread) noexcept {
    funneled_ = level < MPI_THREAD_SERIALIZED;
    serialised_ = level == MPI_THREAD_SERIALIZED;
    if (main_thread) main_ = std::this_thread::get_id();
  }
  /// Only one thread may call MPI; what others send it sends for them.
  [[nodiscard]] bool funneled() const noexcept { return funneled_; }
  /// MPI_THREAD_MULTIPLE.
  [[nodiscard]] bool open_to_all() const noexcept { return !funneled_ && !serialised_; }
  [[nodiscard]] bool open_to_me() const noexcept { return !funneled_ || std::this_thread::get_id() == main_; }

  /// Around calls of MPI by a thread to which it is open.
  class passage {
   public:
    explicit passage(gate& through) : lock_(through.mutex_, std::defer_lock) {
      if (through.serialised_) lock_.lock();
    }

   private:
    std::unique_lock<std::mutex> lock_;
  };
  [[nodiscard]] passage pass() { return passage(*this); }

 private:
  bool funneled_ = false;
  bool serialised_ = false;
  std::thread::id main_;
  std::mutex mutex_;
};

}  // namespace ham::transport::mpi
