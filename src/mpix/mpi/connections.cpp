// Keeps connections as attributes of communicators.
#include "mpix/mpi/connections.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace ham::inline v1::mpix::connections {
namespace {

struct all {
  std::mutex mutex;
  int intercomm_key = MPI_KEYVAL_INVALID;
  std::vector<std::shared_ptr<connection>> made;
};

all& known() {
  static all instance;
  return instance;
}

std::vector<std::shared_ptr<connection>> take_all() {
  const std::lock_guard lock(known().mutex);
  return std::exchange(known().made, {});
}

// The intercommunicator is disconnected or freed.
int on_intercomm_end(MPI_Comm /*intercomm*/, int /*key*/, void* value, void* /*extra*/) {
  std::shared_ptr<connection> leaving;
  {
    const std::lock_guard lock(known().mutex);
    auto& made = known().made;
    const auto found = std::find_if(made.begin(), made.end(), [&](const auto& one) { return one.get() == value; });
    if (found == made.end()) return MPI_SUCCESS;
    leaving = std::move(*found);
    made.erase(found);
  }
  leaving->forget();
  return MPI_SUCCESS;
}

// MPI_Finalize begins with the attributes of MPI_COMM_SELF.
int on_finalize(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  for (const auto& leaving : take_all()) leaving->leave();
  return MPI_SUCCESS;
}

// Once per process, under the lock.
void make_keys(all& here) {
  if (here.intercomm_key != MPI_KEYVAL_INVALID) return;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_intercomm_end, &here.intercomm_key, nullptr);
  int self_key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &self_key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, self_key, nullptr);
}

}  // namespace

std::shared_ptr<connection> find(MPI_Comm intercomm) {
  const std::lock_guard lock(known().mutex);
  if (known().intercomm_key == MPI_KEYVAL_INVALID) return nullptr;
  void* value = nullptr;
  int is_there = 0;
  MPI_Comm_get_attr(intercomm, known().intercomm_key, &value, &is_there);
  if (is_there == 0) return nullptr;
  for (const auto& one : known().made) {
    if (one.get() == value) return one;
  }
  return nullptr;
}

void add(MPI_Comm intercomm, std::shared_ptr<connection> made) {
  const std::lock_guard lock(known().mutex);
  make_keys(known());
  MPI_Comm_set_attr(intercomm, known().intercomm_key, made.get());
  known().made.push_back(std::move(made));
}

}  // namespace ham::mpix::connections
