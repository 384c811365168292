// A program of MPI that offloads to ranks of its own: communicators, levels of thread support, its own messages, ranks
// that send nonsense. First argument: the level that it asks MPI for.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "ham/mpi.hpp"
#include "ham/offload.hpp"

using namespace ham;

namespace {

MPI_Comm newest = MPI_COMM_NULL;  // the communicator that the transport made for itself

}  // namespace

/// Called in place of MPI's, also by the module.
extern "C" int MPI_Comm_idup(MPI_Comm of, MPI_Comm* made, MPI_Request* request) {
  const int result = PMPI_Comm_idup(of, made, request);
  PMPI_Wait(request, MPI_STATUS_IGNORE);
  newest = *made;
  return result;
}

namespace {

int rank_of(MPI_Comm in) {
  int rank = 0;
  MPI_Comm_rank(in, &rank);
  return rank;
}
bool mapped() {
  const char* const text = std::getenv("HAM_MPI_MAP");
  return text == nullptr || text[0] != '0';
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

/// In the background, where MPI lets a thread of HAM call it, or whenever this thread calls HAM.
void expect_large_transfers(node_t node) {
  constexpr std::size_t count = 1'000'000;
  const offload::buffer<int> there(node, count);
  const std::vector<int> sent(count, node + 1);
  std::vector<int> got(count);
  auto put = offload::put(sent.data(), there.ptr(), count);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(offload::sync(node, fn<&twice>, i), 2 * i);
  put.get();
  auto get = offload::get(there.ptr(), got.data(), count);
  while (!get.test()) EXPECT_EQ(offload::sync(node, fn<&twice>, 3), 6);
  get.get();
  EXPECT_EQ(got, sent);
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
    expect_large_transfers(node);
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

/// Kinds of frames as they travel: key, call, count of frames taken, kind.
struct raw_frame {
  std::uint32_t key = 0, call = 0, taken = 0;
  std::uint8_t kind = 1, unused[3] = {};
};
enum class nonsense { short_frame, long_frame, no_kind, unknown_control, taken_too_much, unknown_kind, end };

void send_nonsense(nonsense what, int to) {
  raw_frame head;
  std::vector<std::byte> bytes(sizeof head);
  constexpr int frame_tag = 1;
  switch (what) {
    case nonsense::short_frame: bytes.resize(3); break;
    case nonsense::long_frame: bytes.resize(100'000); break;
    case nonsense::no_kind: head.kind = 0; break;
    case nonsense::unknown_control: head.kind = 0x99; break;
    case nonsense::taken_too_much: head.taken = 1'000'000; break;
    case nonsense::unknown_kind: head.kind = 0x7f; break;
    case nonsense::end: break;
  }
  if (bytes.size() >= sizeof head) std::memcpy(bytes.data(), &head, sizeof head);
  PMPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, frame_tag, newest);
}

int send_nonsense_to_host(nonsense what) {
  send_nonsense(what, 0);
  return 1;
}

TEST(communicator, a_rank_that_sends_nonsense_is_closed_and_the_others_go_on) {
  for (int i = 0; i < static_cast<int>(nonsense::end); ++i) {
    runtime rt{mpi_communicator(MPI_COMM_WORLD)};
    if (rt.this_node() != 0) continue;
    EXPECT_EQ(offload::sync(1, fn<&twice>, 4), 8);
    try {
      offload::sync(1, fn<&send_nonsense_to_host>, static_cast<nonsense>(i));
      ADD_FAILURE() << i;
    } catch (const node_failure& failure) {
      const std::string text = failure.what();
      EXPECT_TRUE(text.find("it sent") != text.npos || text.find("it says that it has taken") != text.npos) << text;
    }
    EXPECT_THROW(offload::sync(1, fn<&twice>, 4), node_failure);
    for (node_t node = 2; node < static_cast<node_t>(rt.num_nodes()); ++node)
      EXPECT_EQ(offload::sync(node, fn<&twice>, 5), 10);
  }
  expect_own_messages();
}

/// Files by which processes of this machine tell each other something that MPI does not hear.
std::string sign(const char* what, int host) {
  return "/tmp/ham_mpi_" + std::string(what) + "." + std::to_string(host);
}
void give(const std::string& file) { std::ofstream(file).close(); }
void await_sign(const std::string& file, bool there) {
  for (int i = 0; i < 60'000 && (::access(file.c_str(), F_OK) == 0) != there; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Serves nobody from the first sign on until it has been closed and its host has noticed.
int send_nonsense_when_busy(int host) {
  give(sign("busy", host));
  await_sign(sign("go", host), true);
  send_nonsense_to_host(nonsense::no_kind);
  await_sign(sign("go", host), false);
  return 1;
}

TEST(communicator, transfers_with_a_rank_that_is_closed_meanwhile_are_lost) {
  std::vector<int> local(3'000'000);
  {
    runtime rt{mpi_communicator(MPI_COMM_WORLD)};
    if (rt.this_node() == 0) {
      auto there = offload::allocate<int>(1, local.size());
      const int host = ::getpid();
      auto call = offload::async(1, fn<&send_nonsense_when_busy>, host);
      await_sign(sign("busy", host), true);
      std::vector<offload::future<void>> moving;
      for (int i = 0; i < 5; ++i) moving.push_back(offload::put(local.data(), there, local.size()));
      moving.push_back(offload::get(there, local.data(), local.size()));
      give(sign("go", host));
      EXPECT_THROW(call.get(), node_failure);
      if (!mapped()) {  // else the bytes are there whatever the rank does
        for (auto& one : moving) EXPECT_THROW(one.get(), node_failure);
      }
      for (const char* const one : {"busy", "go"}) std::filesystem::remove(sign(one, host));
      for (auto& one : moving) one.detach();
      if (rt.num_nodes() > 2) expect_large_transfers(2);
    }
  }
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
