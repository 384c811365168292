// The functions of ham/mpix_kernel.h that parents call.
#include "mpix/mpi/connection.hpp"

#include <algorithm>
#include <new>
#include <vector>

/// What a parent holds of a call.
struct MPIX_Kernel_request_s {
  std::shared_ptr<ham::mpix::connection> over;
  std::uint64_t ticket = 0;
  int root = 0;
};

namespace {

using ham::mpix::connection;
using ham::mpix::kernel_calls;

// Nothing of C++ leaves through a C function.
template <class Function>
int guarded(const Function& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (...) {
    return MPI_ERR_INTERN;
  }
}

// An empty name may only be the last.
bool ends_only_last(const kernel_calls& calls) {
  for (std::size_t i = 0; i + 1 < calls.count; ++i) {
    if (calls.names[i][0] == '\0') return false;
  }
  return true;
}

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int call(int count, char* names[], int* argcounts, void** args[], int* argsizes[], int root, MPI_Comm comm,
         MPI_Comm intercomm, MPIX_Kernel_request* request) {
  const auto over = connection::of(comm, intercomm);
  if (over == nullptr) return MPI_ERR_COMM;
  if (root < 0 || root >= over->parents()) return MPI_ERR_ROOT;
  kernel_calls calls;
  const kernel_calls* valid = nullptr;
  if (rank_in(comm) == root && count >= 0 && (count == 0 || (names != nullptr && argcounts != nullptr))) {
    calls = {static_cast<std::size_t>(count), names, argcounts, args, argsizes};
    const bool has_lists = args != nullptr && argsizes != nullptr;
    const bool needs_lists = std::any_of(argcounts, argcounts + count, [](int arguments) { return arguments != 0; });
    if ((has_lists || !needs_lists) && check_calls(calls) && ends_only_last(calls)) valid = &calls;
  }
  std::uint64_t ticket = 0;
  const std::uint32_t flags = request != nullptr ? std::uint32_t{ham::mpix::wants_done} : 0;
  const int result = over->call(root, valid, flags, false, ticket);
  if (request != nullptr) *request = new MPIX_Kernel_request_s{over, ticket, root};
  return result;
}

bool try_end(MPIX_Kernel_request* request, MPIX_Kernel_status statuses[], int& result) {
  std::vector<MPIX_Kernel_status> all;
  const MPIX_Kernel_request_s& call = **request;
  if (!call.over->test(call.ticket, call.root, all)) return false;
  const auto failed = [](const MPIX_Kernel_status& one) { return one.error != MPIX_KERNEL_OK; };
  result = std::any_of(all.begin(), all.end(), failed) ? MPI_ERR_OTHER : MPI_SUCCESS;
  if (statuses != MPIX_KERNEL_STATUSES_IGNORE) std::copy(all.begin(), all.end(), statuses);
  delete *request;
  *request = MPIX_KERNEL_REQUEST_NULL;
  return true;
}

int wait(MPIX_Kernel_request* request, MPIX_Kernel_status statuses[]) {
  int result = MPI_SUCCESS;
  ham::mpix::pause pause;
  while (!try_end(request, statuses, result)) pause();
  return result;
}

}  // namespace

extern "C" {

int MPIX_Kernel_icall_multiple(int count, char* array_of_kernelname[], int* array_of_argcount, void** array_of_args[],
                               int* array_of_argsizes[], int root, MPI_Comm comm, MPI_Comm intercomm,
                               MPIX_Kernel_request* request) {
  if (request == nullptr) return MPI_ERR_ARG;
  *request = MPIX_KERNEL_REQUEST_NULL;
  return guarded([&] {
    return call(count, array_of_kernelname, array_of_argcount, array_of_args, array_of_argsizes, root, comm, intercomm,
                request);
  });
}

int MPIX_Kernel_call_multiple(int count, char* array_of_kernelname[], int* array_of_argcount, void** array_of_args[],
                              int* array_of_argsizes[], int root, MPI_Comm comm, MPI_Comm intercomm) {
  return guarded([&] {
    return call(count, array_of_kernelname, array_of_argcount, array_of_args, array_of_argsizes, root, comm, intercomm,
                nullptr);
  });
}

int MPIX_Kernel_icall(char* kernelname, int argcount, void* args[], int* argsizes, int root, MPI_Comm comm,
                      MPI_Comm intercomm, MPIX_Kernel_request* request) {
  return MPIX_Kernel_icall_multiple(1, &kernelname, &argcount, &args, &argsizes, root, comm, intercomm, request);
}

int MPIX_Kernel_call(char* kernelname, int argcount, void* args[], int* argsizes, int root, MPI_Comm comm,
                     MPI_Comm intercomm) {
  return MPIX_Kernel_call_multiple(1, &kernelname, &argcount, &args, &argsizes, root, comm, intercomm);
}

int MPIX_Kernel_wait(MPIX_Kernel_request* request, MPIX_Kernel_status statuses[]) {
  if (request == nullptr || *request == MPIX_KERNEL_REQUEST_NULL) return MPI_ERR_REQUEST;
  return guarded([&] { return wait(request, statuses); });
}

int MPIX_Kernel_test(MPIX_Kernel_request* request, int* flag, MPIX_Kernel_status statuses[]) {
  if (request == nullptr || *request == MPIX_KERNEL_REQUEST_NULL) return MPI_ERR_REQUEST;
  if (flag == nullptr) return MPI_ERR_ARG;
  return guarded([&] {
    int result = MPI_SUCCESS;
    *flag = try_end(request, statuses, result) ? 1 : 0;
    return result;
  });
}

int MPIX_Kernel_waitall(int root, MPI_Comm comm, MPI_Comm intercomm, MPIX_Kernel_status* status) {
  return guarded([&] {
    const auto over = connection::of(comm, intercomm);
    if (over == nullptr) return MPI_ERR_COMM;
    if (root < 0 || root >= over->parents()) return MPI_ERR_ROOT;
    MPIX_Kernel_request request = new MPIX_Kernel_request_s{over, 0, root};
    const kernel_calls nothing;
    const int called = over->call(root, &nothing, ham::mpix::wants_done, true, request->ticket);
    if (status != MPIX_KERNEL_STATUSES_IGNORE) {
      *status = MPIX_Kernel_status{};
      status->rank = -1;
    }
    // Other parents wait for the root's word, even if that has nothing to say.
    const int waited = wait(&request, status);
    return called != MPI_SUCCESS ? called : waited;
  });
}

}  // extern "C"
