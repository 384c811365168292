// The floors of latency, the partner's half: a process that answers and otherwise sleeps.
#include "floor_page.hpp"
#include "floor_partner.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace ham::inline v1::bench {

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

void answer_copies(floor_page& page) {
  const std::byte* const here = reinterpret_cast<const std::byte*>(&page) + floor_copy_offset;
  std::optional<floor_buffer> copied;
  std::size_t size = 0;
  std::uint32_t seen = 0;
  for (;;) {
    std::uint32_t request = 0;
    while ((request = page.request.load(std::memory_order_acquire)) == seen) {
    }
    if (request == end_of_block) return;
    seen = request;
    const std::uint64_t bytes = page.copied_bytes;
    if (size < bytes) copied.emplace(size = bytes);
    std::memcpy(copied->page_aligned(), here, bytes);
    page.reply.store(seen, std::memory_order_release);
  }
}

void answer_messages(floor_page& page) {
  floor_buffer copied(page.copied_bytes);
  floor_messages messages(page);
  for (std::uint32_t round = 1;; ++round) {
    std::uint32_t flag = 0;
    while ((flag = messages.flag(round).load(std::memory_order_acquire)) != round) {
      if (flag == end_of_block) return;
    }
    messages.copy_out(round, copied.data());
    page.place(round).reply.store(round, std::memory_order_release);
  }
}

void send_messages(floor_page& page) {
  floor_buffer source(page.copied_bytes);
  floor_messages messages(page);
  for (std::uint32_t round = 1;; ++round) {
    std::uint32_t request = 0;
    while ((request = page.place(round).request.load(std::memory_order_acquire)) != round) {
      if (request == end_of_block) return;
    }
    messages.write(round, source.data());
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
  for (;;) {
    const std::uint32_t command = page.command.load();
    page.active = command;
    switch (static_cast<floor_command>(command)) {
      case floor_command::sleep: futex_wait_shared(page.command, command); break;
      case floor_command::bounce: answer_bounces(page); break;
      case floor_command::futex: answer_futexes(page); break;
      case floor_command::copy: answer_copies(page); break;
      case floor_command::lines_there: answer_messages(page); break;
      case floor_command::lines_back: send_messages(page); break;
      case floor_command::quit: return EXIT_SUCCESS;
    }
    // The host takes the command back before it ends a block, so the next turn of the loop does not answer again.
  }
}

}  // namespace ham::bench
