// Sizes are recorded by way of MPI's profiling interface, so that they are those of this version of the library.
#include "bare_exchange.hpp"

#include <ham/mpix_kernel.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "polite_receive.hpp"

namespace {

ham::kernels::traffic* recording = nullptr;

int bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

bool is_inter(MPI_Comm over) {
  int inter = 0;
  PMPI_Comm_test_inter(over, &inter);
  return inter != 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag,
                                                     MPI_Comm over, MPI_Request* request) {
  if (recording != nullptr) {
    (is_inter(over) ? recording->to_children : recording->to_parents).push_back(bytes_of(count, type));
  }
  return PMPI_Isend(from, count, type, to, tag, over, request);
}

__attribute__((visibility("default"))) int MPI_Mrecv(void* to, int count, MPI_Datatype type, MPI_Message* message,
                                                     MPI_Status* status) {
  if (recording != nullptr) recording->from_children.push_back(bytes_of(count, type));
  return PMPI_Mrecv(to, count, type, message, status);
}

}  // extern "C"

namespace ham::inline v1::kernels {

traffic recorded(const std::function<void()>& work) {
  traffic result;
  recording = &result;
  work();
  recording = nullptr;
  return result;
}

bare_exchange::bare_exchange(traffic calls, traffic with_end, MPI_Comm parents, MPI_Comm children)
    : parents_(parents),
      children_(children),
      to_children_(std::move(with_end.to_children)),
      sends_(static_cast<int>(calls.to_children.size())) {
  MPI_Comm_rank(parents_, &rank_);
  MPI_Comm_size(parents_, &parent_count_);
  if (rank_ == 0) {
    if (sends_ == 0 || to_children_.size() <= calls.to_children.size() || with_end.from_children.empty()) {
      std::fprintf(stderr, "ham-bench kernels: the library's messages were not seen, so there is no floor\n");
      MPI_Abort(parents_, 1);
    }
    answer_bytes_ = with_end.from_children.back();
    if (!with_end.to_parents.empty()) last_word_bytes_ = with_end.to_parents.back();
    const int largest = *std::max_element(to_children_.begin(), to_children_.end());
    bytes_.resize(static_cast<std::size_t>(std::max({largest, answer_bytes_, last_word_bytes_})));
  }
  MPI_Bcast(&last_word_bytes_, 1, MPI_INT, 0, parents_);
  if (rank_ != 0) bytes_.resize(static_cast<std::size_t>(last_word_bytes_));
}

/// Has the children come to the function that does their part.
void bare_exchange::begin() {
  char name[] = "pass_on";
  int messages = static_cast<int>(to_children_.size());
  int largest = static_cast<int>(bytes_.size());
  void* places[] = {&messages, &largest, &answer_bytes_};
  int sizes[] = {sizeof messages, sizeof largest, sizeof answer_bytes_};
  MPIX_Kernel_call(name, 3, places, sizes, 0, parents_, children_);
  if (rank_ == 0) receive({}, 0, children_);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(parents_, &request);
  wait(request);
  MPI_Barrier(parents_);
}

bare_exchange::times_us bare_exchange::operator()() {
  begin();
  const double start = MPI_Wtime();
  double taken[2] = {0, 0};
  if (rank_ == 0) {
    for (std::size_t i = 0; i < to_children_.size(); ++i) {
      if (i == static_cast<std::size_t>(sends_)) taken[0] = MPI_Wtime() - start;
      MPI_Send(bytes_.data(), to_children_[i], MPI_BYTE, 0, 0, children_);
    }
    receive(bytes_, 0, children_);
    for (int parent = 1; parent < parent_count_; ++parent) {
      MPI_Send(bytes_.data(), last_word_bytes_, MPI_BYTE, parent, 0, parents_);
    }
  } else {
    receive(bytes_, 0, parents_);
  }
  taken[1] = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, taken, 2, MPI_DOUBLE, MPI_MAX, parents_);
  return {1e6 * taken[0], 1e6 * taken[1]};
}

}  // namespace ham::kernels
