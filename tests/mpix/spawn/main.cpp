// Parents of the spawn tests: main HOST LIBRARY calls|crash_segv|crash_abrt|crash_fpe|nobody_asks|stuck [MACHINE,...].
// One spawn each, see docs/mpix.md; on the machines that are named, whose names are printed.
#include <ham/mpix_kernel.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int failures = 0;
int rank = 0;
MPI_Comm comm = MPI_COMM_WORLD;
MPI_Comm children = MPI_COMM_NULL;

#define EXPECT(what)                                                                     \
  do {                                                                                   \
    if (!(what)) {                                                                       \
      ++failures;                                                                        \
      std::fprintf(stderr, "line %d, parent %d: not true: %s\n", __LINE__, rank, #what); \
    }                                                                                    \
  } while (false)

// A call with arguments of any type.
struct kernel {
  template <class... Args>
  explicit kernel(const char* name, const Args&... args)
      : name(const_cast<char*>(name)),
        places{const_cast<void*>(static_cast<const void*>(&args))...},
        sizes{static_cast<int>(sizeof args)...} {}
  char* name;
  std::vector<void*> places;
  std::vector<int> sizes;
};

int call(kernel one, int root = 0) {
  return MPIX_Kernel_call(one.name, static_cast<int>(one.places.size()), one.places.data(), one.sizes.data(), root,
                          comm, children);
}

struct lists {
  explicit lists(std::vector<kernel>& kernels) {
    for (kernel& one : kernels) {
      names.push_back(one.name);
      counts.push_back(static_cast<int>(one.places.size()));
      places.push_back(one.places.data());
      sizes.push_back(one.sizes.data());
    }
  }
  int count() const { return static_cast<int>(names.size()); }
  std::vector<char*> names;
  std::vector<int> counts;
  std::vector<void**> places;
  std::vector<int*> sizes;
};

std::vector<MPIX_Kernel_status> run(std::vector<kernel> kernels, int root = 0) {
  lists all(kernels);
  std::vector<MPIX_Kernel_status> statuses(kernels.size());
  MPIX_Kernel_request request = MPIX_KERNEL_REQUEST_NULL;
  EXPECT(MPIX_Kernel_icall_multiple(all.count(), all.names.data(), all.counts.data(), all.places.data(),
                                    all.sizes.data(), root, comm, children, &request) == MPI_SUCCESS);
  MPIX_Kernel_wait(&request, statuses.data());
  EXPECT(request == MPIX_KERNEL_REQUEST_NULL);
  return statuses;
}

bool says(const MPIX_Kernel_status& status, const char* text) {
  const bool result = std::strstr(status.text, text) != nullptr;
  if (!result) std::fprintf(stderr, "the status says: %s\n", status.text);
  return result;
}

struct vec {
  double x, y, z;
};

void arguments_arrive() {
  const auto statuses = run({kernel("check_arguments", 0.5, 10, 'x', vec{1, 2, 3}, 4.5F), kernel("nap", 1)});
  EXPECT(statuses[0].error == MPIX_KERNEL_OK && statuses[0].result == 1 && statuses[0].rank == -1);
  EXPECT(statuses[1].error == MPIX_KERNEL_OK);
  // Many parts, larger than what MPI sends at once.
  std::vector<unsigned char> bytes(20'000'000, 3);
  const long count = static_cast<long>(bytes.size());
  kernel large("sum_bytes", count, count, count);
  large.places = {bytes.data(), const_cast<long*>(&count), nullptr};
  large.sizes = {static_cast<int>(bytes.size()), sizeof count, 0};
  const auto sums = run({large, large}, 1);
  EXPECT(sums[0].result == 3LL * 20'000'000 * 2 && sums[1].result == sums[0].result);
}

void kernels_run_in_order() {
  std::vector<int> values(300);
  std::vector<kernel> batch;
  for (int i = 0; i < 300; ++i) values[static_cast<std::size_t>(i)] = i;
  for (int i = 0; i < 100; ++i) EXPECT(call(kernel("remember", values[static_cast<std::size_t>(i)])) == MPI_SUCCESS);
  for (int i = 100; i < 200; ++i) batch.push_back(kernel("remember", values[static_cast<std::size_t>(i)]));
  lists all(batch);
  EXPECT(MPIX_Kernel_call_multiple(all.count(), all.names.data(), all.counts.data(), all.places.data(),
                                   all.sizes.data(), 0, comm, children) == MPI_SUCCESS);
  // Roots take turns: their messages may overtake each other, the kernels must not.
  for (int i = 200; i < 300; ++i)
    EXPECT(call(kernel("remember", values[static_cast<std::size_t>(i)]), i % 2) == MPI_SUCCESS);
  EXPECT(call(kernel("send_log")) == MPI_SUCCESS);
  for (int child = 0; rank == 0 && child < 2; ++child) {
    std::vector<int> seen(400);
    MPI_Status status;
    int count = 0;
    MPI_Recv(seen.data(), 400, MPI_INT, child, 0, children, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    seen.resize(static_cast<std::size_t>(count));
    EXPECT(seen == values);
  }
}

void failures_are_told() {
  const auto all = run({kernel("absent", 1), kernel("nap", 1, 2), kernel("nap", 1.0), kernel("throw_on", 1),
                        kernel("nap(float)", 1), kernel("check_arguments", 0.5, 10, 'x', vec{1, 2, 3}, 4.5F)});
  EXPECT(all[0].error == MPIX_KERNEL_UNKNOWN && all[0].rank == 0 && says(all[0], "kernel \"absent\" on child 0"));
  EXPECT(all[1].error == MPIX_KERNEL_MISMATCH && says(all[1], "takes 1 arguments, the call has 2"));
  EXPECT(all[2].error == MPIX_KERNEL_MISMATCH && says(all[2], "has 4 bytes, the call has 8 bytes"));
  EXPECT(all[3].error == MPIX_KERNEL_EXCEPTION && all[3].rank == 1 && says(all[3], "as asked"));
  EXPECT(all[4].error == MPIX_KERNEL_MISMATCH && says(all[4], "the call says"));
  EXPECT(std::strcmp(all[1].kernel, "nap") == 0);
  EXPECT(all[5].error == MPIX_KERNEL_OK && all[5].result == 1);
}

void failures_without_request_are_told_by_waitall() {
  EXPECT(call(kernel("absent_too")) == MPI_SUCCESS);
  EXPECT(call(kernel("nap", 1)) == MPI_SUCCESS);
  MPIX_Kernel_status status;
  EXPECT(MPIX_Kernel_waitall(0, comm, children, &status) == MPI_ERR_OTHER);
  EXPECT(status.error == MPIX_KERNEL_UNKNOWN && says(status, "absent_too"));
  EXPECT(MPIX_Kernel_waitall(0, comm, children, &status) == MPI_SUCCESS && status.error == MPIX_KERNEL_OK);
}

void test_does_not_wait() {
  int duration_ms = 300;
  void* args[] = {&duration_ms};
  int sizes[] = {sizeof duration_ms};
  MPIX_Kernel_request request;
  EXPECT(MPIX_Kernel_icall("nap", 1, args, sizes, 0, comm, children, &request) == MPI_SUCCESS);
  duration_ms = 0;
  int flag = 1;
  const double begin = MPI_Wtime();
  EXPECT(MPIX_Kernel_test(&request, &flag, MPIX_KERNEL_STATUSES_IGNORE) == MPI_SUCCESS);
  EXPECT(flag == 0 && request != MPIX_KERNEL_REQUEST_NULL);
  while (flag == 0) MPIX_Kernel_test(&request, &flag, MPIX_KERNEL_STATUSES_IGNORE);
  EXPECT(MPI_Wtime() - begin > 0.2);
  EXPECT(request == MPIX_KERNEL_REQUEST_NULL);
}

void wrong_arguments_are_refused() {
  EXPECT(call(kernel("nap", 1), 7) == MPI_ERR_ROOT);
  EXPECT(MPIX_Kernel_call("nap", 0, nullptr, nullptr, 0, comm, comm) == MPI_ERR_COMM);
  EXPECT(MPIX_Kernel_call(static_cast<char*>(nullptr), 0, nullptr, nullptr, 0, comm, children) ==
         (rank == 0 ? MPI_ERR_ARG : MPI_SUCCESS));
  EXPECT(MPIX_Kernel_call("nap", 1, nullptr, nullptr, 0, comm, children) == (rank == 0 ? MPI_ERR_ARG : MPI_SUCCESS));
  EXPECT(MPIX_Kernel_wait(nullptr, nullptr) == MPI_ERR_REQUEST);
  // The children did not lose count.
  EXPECT(run({kernel("nap", 1)})[0].error == MPIX_KERNEL_OK);
}

void test_calls() {
  arguments_arrive();
  kernels_run_in_order();
  failures_are_told();
  failures_without_request_are_told_by_waitall();
  test_does_not_wait();
  wrong_arguments_are_refused();
}

void test_crash(int signal) {
  const auto all = run({kernel("nap", 1), kernel("crash_on", 1, signal), kernel("nap", 1)});
  EXPECT(all[0].error == MPIX_KERNEL_OK);
  EXPECT(all[1].error == MPIX_KERNEL_CRASHED && all[1].rank == 1 && all[1].signal == signal);
  EXPECT(says(all[1], "kernel \"crash_on\" on child 1: crashed"));
  EXPECT(all[2].error == MPIX_KERNEL_NOT_RUN && all[2].rank == 1);
  EXPECT(call(kernel("nap", 1)) == (rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS));
}

void test_nobody_asks() {
  int nothing = 0;
  call(kernel("absent", nothing));
  MPI_Recv(&nothing, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);  // for ever
}

void test_stuck() {
  const auto all = run({kernel("crash_while_others_wait")});
  std::printf("told: %s\n", all[0].text);
  std::fflush(stdout);
}

void print_machines() {
  call(kernel("send_machine"));
  std::string line = "children on";
  for (int child = 0; rank == 0 && child < 2; ++child) {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Recv(name, sizeof name, MPI_CHAR, child, 0, children, MPI_STATUS_IGNORE);
    line += std::string(" ") + name;
  }
  if (rank == 0) std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void spawn(char** argv, const char* machines) {
  char* library[] = {argv[2], nullptr};
  MPI_Info where = MPI_INFO_NULL;
  if (machines != nullptr) {
    MPI_Info_create(&where);
    MPI_Info_set(where, "host", machines);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (MPI_Comm_spawn(argv[1], library, 2, where, 0, comm, &children, MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
    std::printf("skipped: this MPI cannot spawn\n");
    MPI_Finalize();
    std::exit(77);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  if (where != MPI_INFO_NULL) MPI_Info_free(&where);
}

void end() {
  EXPECT(MPIX_Kernel_call("", 0, nullptr, nullptr, 0, comm, children) == MPI_SUCCESS);
  MPI_Comm_disconnect(&children);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4 && argc != 5) return 2;
  const std::string what = argv[3];
  MPI_Comm_rank(comm, &rank);
  spawn(argv, argc == 5 ? argv[4] : nullptr);
  if (argc == 5) print_machines();
  if (what == "calls") test_calls();
  if (what == "nobody_asks") test_nobody_asks();
  if (what == "stuck") test_stuck();
  if (what == "crash_segv") test_crash(SIGSEGV);
  if (what == "crash_abrt") test_crash(SIGABRT);
  if (what == "crash_fpe") test_crash(SIGFPE);
  if (what != "crash_fpe") end();  // these are ended by MPI_Finalize
  int all_failures = 0;
  MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, comm);
  MPI_Finalize();
  return all_failures == 0 ? 0 : 1;
}
