// Kernels for the spawn tests; the parents learn what they saw through results and messages.
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

std::vector<int> log_of_calls;

int rank() {
  int result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}

MPI_Comm parents() {
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Comm_get_parent(&result);
  return result;
}

}  // namespace

struct vec {
  double x, y, z;
};

extern "C" {

// 1 if all is as the parents sent it, on all children.
int check_arguments(double a, int b, char c, vec v, float d) {
  int good = a == 0.5 && b == 10 && c == 'x' && v.x == 1 && v.y == 2 && v.z == 3 && d == 4.5F ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return good;
}

// Sum over all children; the bytes are the kernel's own to change.
long long sum_bytes(unsigned char* bytes, long count, const char* none) {
  long long sum = none == nullptr ? 0 : -1;
  for (long i = 0; i < count; ++i) {
    sum += bytes[i];
    bytes[i] = 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

void remember(int value) { log_of_calls.push_back(value); }

void send_log() {
  MPI_Send(log_of_calls.data(), static_cast<int>(log_of_calls.size()), MPI_INT, 0, 0, parents());
  log_of_calls.clear();
}

void send_machine() {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  MPI_Send(name, length + 1, MPI_CHAR, 0, 0, parents());
}

void nap(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

void throw_on(int where) {
  if (rank() == where) throw std::runtime_error("as asked");
}

void crash_on(int where, int how) {
  if (rank() != where) return;
  if (how == SIGABRT) std::abort();
  if (how == SIGFPE) std::raise(SIGFPE);
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

void crash_while_others_wait() {
  crash_on(1, SIGSEGV);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // extern "C"
