// A program of MPI that offloads to ranks of its own: communicators, levels of thread support, its own messages.
// First argument: the level that it asks MPI for.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <thread>

#include "ham/mpi.hpp"
#include "ham/offload.hpp"

using namespace ham;

namespace {

int rank_of(MPI_Comm in) {
  int rank = 0;
  MPI_Comm_rank(in, &rank);
  return rank;
}
int twice(int value) { return 2 * value; }
int twice_at_host(int value) { return offload::sync(0, fn<&twice>, value); }

/// The program's own message goes round all ranks, under the tags that HAM uses on its own communicator.
void expect_own_messages() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int tag = 1; tag < 4; ++tag) {
    int sent = rank_of(MPI_COMM_WORLD);
    int got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, (sent + 1) % size, tag, &got, 1, MPI_INT, (sent + size - 1) % size, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(got, (sent + size - 1) % size);
  }
}

void expect_job(runtime& rt, MPI_Comm ranks) {
  int size = 0;
  MPI_Comm_size(ranks, &size);
  EXPECT_EQ(rt.num_nodes(), static_cast<std::size_t>(size));
  EXPECT_EQ(rt.this_node(), rank_of(ranks));
  if (rt.this_node() != 0) return;
  for (node_t node = 1; node < size; ++node) {
    EXPECT_EQ(offload::sync(node, fn<&twice>, node), 2 * node);
    EXPECT_EQ(offload::sync(node, fn<&twice_at_host>, node), 2 * node);
    // On another thread, which may not call MPI below MPI_THREAD_MULTIPLE; here and there.
    const offload::context ordered(node);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(offload::sync(ordered, fn<&twice_at_host>, i), 2 * i);
    std::atomic<bool> done{false};
    std::thread other([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(offload::sync(node, fn<&twice>, i), 2 * i);
      done = true;
    });
    while (!done) offload::sync(node, fn<&twice>, 1);
    other.join();
    const offload::buffer<int> there(node, 100'000);
    const std::vector<int> sent(100'000, node);
    std::vector<int> got(100'000);
    offload::put_sync(sent.data(), there.ptr(), sent.size());
    offload::get_sync(there.ptr(), got.data(), got.size());
    EXPECT_EQ(got, sent);
  }
}

TEST(communicator, all_ranks) {
  for (int round = 0; round < 2; ++round) {
    runtime rt{mpi_communicator(MPI_COMM_WORLD)};
    expect_job(rt, MPI_COMM_WORLD);
  }
  expect_own_messages();
}

TEST(communicator, two_jobs_side_by_side) {
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);  // their last rank is the host
  {
    runtime rt{mpi_communicator(half)};
    expect_job(rt, half);
  }
  MPI_Comm_free(&half);
  expect_own_messages();
}

TEST(communicator, that_is_none) {
  EXPECT_THROW(runtime{mpi_communicator(MPI_COMM_NULL)}, config_error);
  runtime_options wrong;
  wrong.nodes = "shm:1";
  EXPECT_THROW(runtime(mpi_communicator(MPI_COMM_WORLD), wrong), config_error);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 3;
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int provided = 0;
  MPI_Init_thread(&argc, &argv, levels[wanted], &provided);
  const int failed = RUN_ALL_TESTS();
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Finalize();
  return failed + ended;
}
