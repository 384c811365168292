// A communicator that will carry a job.
#pragma once

#include "transport/mpi/transport.hpp"
#include "transport/process_group.hpp"

namespace ham::inline v1::transport::mpi {

class mpi_group final : public process_group {
 public:
  /// Takes `own` over, a communicator that nobody else uses.
  mpi_group(session& in, MPI_Comm own, const transport_options& how);
  ~mpi_group() override;

  [[nodiscard]] std::size_t size() const noexcept override { return static_cast<std::size_t>(size_); }
  [[nodiscard]] node_t first() const noexcept override { return how_.first; }
  [[nodiscard]] node_t self() const noexcept override { return rank_ == 0 ? 0 : how_.first + rank_ - 1; }
  [[nodiscard]] bool for_any_thread() const noexcept override { return session_.calls().open_to_all(); }
  [[nodiscard]] std::unique_ptr<transport> open(base::heap* memory, observer& to) override;

 private:
  session& session_;
  MPI_Comm own_;
  const transport_options how_;
  int rank_ = 0;
  int size_ = 0;
};

/// A copy of `of` that nobody else uses; waits for its other ranks without taking a core from them.
[[nodiscard]] MPI_Comm duplicate(MPI_Comm of);

}  // namespace ham::transport::mpi
