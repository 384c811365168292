// The floors of latency, the host's half.
#include "floor_partner.hpp"

#include "floor_page.hpp"
#include "process_state.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace ham::inline v1::bench {

floor_partner::floor_partner(const core_pair& cores) {
  const int fd = memfd_create("ham-bench-floor", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, floor_memory_bytes) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot create the memory of the floor");
  }
  void* memory = mmap(nullptr, floor_memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "cannot map the memory of the floor");
  page_ = ::new (memory) floor_page{};
  pid_ = spawn_self({std::string(floor_partner_argument), "3", std::to_string(cores.target)}, fd);
  close(fd);
}

floor_partner::~floor_partner() {
  page_->command = static_cast<std::uint32_t>(floor_command::quit);
  futex_wake_shared(page_->command);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  munmap(page_, floor_memory_bytes);
}

void floor_partner::begin(unsigned command) {
  page_->request = 0;
  page_->reply = 0;
  for (floor_lines& lines : page_->bounced) lines.request = lines.reply = 0;
  page_->command = command;
  futex_wake_shared(page_->command);
  while (page_->active.load() != command) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) throw std::runtime_error("the floor's partner process has died");
    usleep(50);
  }
}

void floor_partner::finish() {
  page_->command = static_cast<std::uint32_t>(floor_command::sleep);
  page_->request = end_of_block;
  for (floor_lines& lines : page_->bounced) lines.request = end_of_block;
  futex_wake_shared(page_->request);
  while (page_->active.load() != static_cast<std::uint32_t>(floor_command::sleep)) usleep(50);
}

block_times floor_partner::bounce(const block_plan& plan) {
  begin(static_cast<unsigned>(floor_command::bounce));
  floor_page& page = *page_;
  std::uint32_t round = 0;
  block_times result = time_block(
      [&] {
        floor_lines& lines = page.place(++round);
        lines.request.store(round, std::memory_order_release);
        while (lines.reply.load(std::memory_order_acquire) != round) {
        }
      },
      plan);
  finish();
  return result;
}

block_times floor_partner::copy_through(const void* from, std::size_t size_bytes, const block_plan& plan) {
  begin(static_cast<unsigned>(floor_command::copy));
  floor_page& page = *page_;
  std::byte* const there = reinterpret_cast<std::byte*>(page_) + floor_copy_offset;
  page.copied_bytes = size_bytes;
  std::uint32_t round = 0;
  block_times result = time_block(
      [&] {
        std::memcpy(there, from, size_bytes);
        page.request.store(++round, std::memory_order_release);
        while (page.reply.load(std::memory_order_acquire) != round) {
        }
      },
      plan);
  finish();
  return result;
}

template <class Measure>
block_times floor_partner::over_both_rings(std::size_t size_bytes, block_plan plan, Measure measure) {
  page_->copied_bytes = size_bytes;
  page_->ring_bytes = floor_messages::short_ring_bytes;
  if (size_bytes < floor_messages::page_bytes) return measure(plan);
  plan.length_ns /= 2;
  const block_times nearby = measure(plan);
  page_->ring_bytes = floor_messages::long_ring_bytes;
  const block_times further = measure(plan);
  return nearby.typical_ns < further.typical_ns ? nearby : further;
}

block_times floor_partner::message_there(std::size_t size_bytes, const block_plan& plan) {
  return over_both_rings(size_bytes, plan,
                         [&](const block_plan& half) { return message_there_once(size_bytes, half); });
}

block_times floor_partner::message_there_once(std::size_t size_bytes, const block_plan& plan) {
  floor_buffer message(size_bytes);
  floor_messages messages(*page_);
  messages.clear();
  begin(static_cast<unsigned>(floor_command::lines_there));
  floor_page& page = *page_;
  std::uint32_t round = 0;
  block_times result = time_block(
      [&] {
        messages.write(++round, message.data());
        while (page.place(round).reply.load(std::memory_order_acquire) != round) {
        }
      },
      plan);
  page.command = static_cast<std::uint32_t>(floor_command::sleep);  // before the partner can leave its block
  messages.flag(round + 1).store(end_of_block);
  finish();
  return result;
}

block_times floor_partner::message_back(std::size_t size_bytes, const block_plan& plan) {
  return over_both_rings(size_bytes, plan, [&](const block_plan& half) { return message_back_once(size_bytes, half); });
}

block_times floor_partner::message_back_once(std::size_t size_bytes, const block_plan& plan) {
  floor_buffer into(size_bytes);
  floor_messages messages(*page_);
  messages.clear();
  begin(static_cast<unsigned>(floor_command::lines_back));
  floor_page& page = *page_;
  std::uint32_t round = 0;
  block_times result = time_block(
      [&] {
        ++round;
        page.place(round).request.store(round, std::memory_order_release);
        while (messages.flag(round).load(std::memory_order_acquire) != round) {
        }
        messages.copy_out(round, into.data());
        asm volatile("" ::: "memory");  // the copy counts as used
      },
      plan);
  finish();
  return result;
}

void floor_partner::futex_round() {
  const std::uint32_t round = page_->request.load(std::memory_order_relaxed) + 1;
  page_->request.store(round);
  futex_wake_shared(page_->request);
  while (page_->reply.load() != round) futex_wait_shared(page_->reply, round - 1);
}

block_times floor_partner::futex_ping_pong(const block_plan& plan) {
  begin(static_cast<unsigned>(floor_command::futex));
  block_times result = time_block([&] { futex_round(); }, plan);
  finish();
  return result;
}

double floor_partner::futex_after_sleep_ns(std::chrono::nanoseconds idle) {
  begin(static_cast<unsigned>(floor_command::futex));
  futex_round();
  std::this_thread::sleep_for(idle);
  const std::int64_t before = now_ns();
  futex_round();
  const double taken = static_cast<double>(now_ns() - before) - clock_cost_ns();
  finish();
  return taken;
}

}  // namespace ham::bench
