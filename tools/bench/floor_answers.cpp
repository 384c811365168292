// The floors of latency, the partner's half: a process that answers and otherwise sleeps.
#include "floor_page.hpp"
#include "floor_partner.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ham::bench {

namespace {

void answer_bounces(floor_page& page) {
  for (std::uint32_t round = 1;; ++round) {
    floor_lines& lines = page.place(round);
    std::uint32_t request = 0;
    while ((request = lines.request.load(std::memory_order_acquire)) != round) {
      if (request == end_of_block) return;
    }
    lines.reply.store(round, std::memory_order_release);
  }
}

void answer_futexes(floor_page& page) {
  std::uint32_t seen = 0;
  for (;;) {
    std::uint32_t request = 0;
    while ((request = page.request.load()) == seen) futex_wait_shared(page.request, seen);
    if (request == end_of_block) return;
    seen = request;
    page.reply.store(seen);
    futex_wake_shared(page.reply);
  }
}

void answer_copies(floor_page& page, std::vector<std::byte>& copied) {
  const std::byte* const here = reinterpret_cast<const std::byte*>(&page) + floor_copy_offset;
  std::uint32_t seen = 0;
  for (;;) {
    std::uint32_t request = 0;
    while ((request = page.request.load(std::memory_order_acquire)) == seen) {
    }
    if (request == end_of_block) return;
    seen = request;
    const std::uint64_t bytes = page.copied_bytes;
    if (copied.size() < bytes) copied.resize(bytes);
    std::memcpy(copied.data(), here, bytes);
    page.reply.store(seen, std::memory_order_release);
  }
}

}  // namespace

int run_floor_partner(int argc, char** argv) {
  if (argc != 4) return EXIT_FAILURE;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin_this_thread(std::atoi(argv[3]));
  void* memory = mmap(nullptr, floor_memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(argv[2]), 0);
  if (memory == MAP_FAILED) return EXIT_FAILURE;
  floor_page& page = *static_cast<floor_page*>(memory);
  std::vector<std::byte> copied;
  for (;;) {
    const std::uint32_t command = page.command.load();
    page.active = command;
    switch (static_cast<floor_command>(command)) {
      case floor_command::sleep: futex_wait_shared(page.command, command); break;
      case floor_command::bounce: answer_bounces(page); break;
      case floor_command::futex: answer_futexes(page); break;
      case floor_command::copy: answer_copies(page, copied); break;
      case floor_command::quit: return EXIT_SUCCESS;
    }
    // The host takes the command back before it ends a block, so the next turn of the loop does not answer again.
  }
}

}  // namespace ham::bench
