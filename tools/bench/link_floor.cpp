// The bare exchange over a link of memory and time.
#include "link_floor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t message_bytes = 32;
constexpr std::size_t word_bytes = 8;

struct mailbox {
  alignas(64) std::atomic<std::uint64_t> flag{0};
  alignas(64) std::atomic<std::int64_t> due_ns{0};
  alignas(64) std::array<std::byte, message_bytes> message{};
};

void wait_until(std::int64_t time_ns) {
  while (now_ns() < time_ns) {
  }
}

void far_write(const link_model& link, mailbox& to, std::uint64_t flag, const std::byte* message) {
  wait_until(now_ns() + link.setup_ns);
  std::memcpy(to.message.data(), message, message_bytes);
  if (!link.posted) wait_until(now_ns() + link.write_ns);
  const std::int64_t arrival = now_ns() + link.write_ns;
  to.due_ns.store(arrival, std::memory_order_relaxed);
  to.flag.store(flag, std::memory_order_release);
  if (!link.posted) wait_until(arrival);
}

std::uint64_t far_look(const link_model& link, const mailbox& at) {
  const std::int64_t begin = now_ns();
  wait_until(begin + link.read_ns / 2);
  const std::uint64_t flag = at.flag.load(std::memory_order_acquire);
  wait_until(begin + link.read_ns);
  return flag;
}

void far_read(const link_model& link, const mailbox& from, std::byte* message) {
  const std::int64_t begin = now_ns() + link.setup_ns;
  wait_until(begin + link.read_ns / 2);
  std::memcpy(message, from.message.data(), message_bytes);
  wait_until(begin + link.read_ns);
}

bool near_look(const mailbox& at, std::uint64_t flag) {
  return at.flag.load(std::memory_order_acquire) == flag && at.due_ns.load(std::memory_order_relaxed) <= now_ns();
}

std::int64_t occupied_ns(std::size_t size_bytes, double gib_s) {
  return static_cast<std::int64_t>(static_cast<double>(size_bytes) * 1e9 / (gib_s * 1024 * 1024 * 1024));
}

void near_write(mailbox& to, std::uint64_t flag, const std::byte* message) {
  std::memcpy(to.message.data(), message, message_bytes);
  to.flag.store(flag, std::memory_order_release);
}

}  // namespace

std::string link_model::settings() const {
  return std::string("initiator=") + (host_initiated ? "host" : "target") + "/posted=" + (posted ? "yes" : "no") +
         "/read=" + std::to_string(read_ns) + "/write=" + std::to_string(write_ns) +
         "/setup=" + std::to_string(setup_ns) + "/store=" + std::to_string(store_ns) +
         "/to=" + std::to_string(to_target_gib_s) + "/from=" + std::to_string(to_host_gib_s);
}

struct link_floor::page {
  mailbox there;
  mailbox back;
  std::atomic<std::uint32_t> awake{0};  ///< 0: sleep; 1: answer; 2: end
};

link_floor::link_floor(const link_model& link, const core_pair& cores) : link_(link), page_(std::make_unique<page>()) {
  partner_ = std::thread([this, cores] {
    pin_this_thread(cores.target);
    answer();
  });
}

link_floor::~link_floor() {
  page_->awake.store(2);
  page_->awake.notify_all();
  partner_.join();
}

void link_floor::answer() {
  std::array<std::byte, message_bytes> message{};
  for (std::uint64_t next = 1;;) {
    const std::uint32_t awake = page_->awake.load(std::memory_order_relaxed);
    if (awake == 2) return;
    if (awake == 0) {
      page_->awake.wait(0);
      continue;
    }
    if (link_.host_initiated) {
      if (!near_look(page_->there, next)) continue;
      near_write(page_->back, next, page_->there.message.data());
    } else {
      if (far_look(link_, page_->there) != next) continue;
      far_read(link_, page_->there, message.data());
      far_write(link_, page_->back, next, message.data());
    }
    ++next;
  }
}

void link_floor::exchange_once() {
  std::array<std::byte, message_bytes> message{};
  ++count_;
  if (link_.host_initiated) {
    far_write(link_, page_->there, count_, message.data());
    while (far_look(link_, page_->back) != count_) {
    }
    far_read(link_, page_->back, message.data());
  } else {
    near_write(page_->there, count_, message.data());
    while (!near_look(page_->back, count_)) {
    }
  }
}

block_times link_floor::exchange(const block_plan& plan, phases& when) {
  page_->awake.store(1);
  page_->awake.notify_all();
  block_times result = when.time([this] { exchange_once(); }, plan);
  page_->awake.store(0);
  return result;
}

block_times link_floor::round_trip(const block_plan& plan) const {
  return time_block([this] { static_cast<void>(far_look(link_, page_->back)); }, plan);
}

block_times link_transfers::to_target(std::size_t size_bytes, const block_plan& plan) {
  return link_.host_initiated ? write(size_bytes, link_.to_target_gib_s, plan)
                              : read(size_bytes, link_.to_target_gib_s, plan);
}

block_times link_transfers::to_host(std::size_t size_bytes, const block_plan& plan) {
  return link_.host_initiated ? read(size_bytes, link_.to_host_gib_s, plan)
                              : write(size_bytes, link_.to_host_gib_s, plan);
}

block_times link_transfers::words_to_host(std::size_t size_bytes, const block_plan& plan) {
  return time_block(
      [&] {
        std::int64_t due = now_ns();
        for (std::size_t at = 0; at < size_bytes; at += word_bytes) {
          std::memcpy(far_.data() + at, near_.data() + at, std::min(word_bytes, size_bytes - at));
          wait_until(due += link_.store_ns);
        }
        wait_until(due + link_.write_ns);
      },
      plan);
}

block_times link_transfers::words_to_target(std::size_t size_bytes, const block_plan& plan) {
  return time_block(
      [&] {
        std::int64_t begin = now_ns();
        for (std::size_t at = 0; at < size_bytes; at += word_bytes) {
          wait_until(begin + link_.read_ns / 2);
          std::memcpy(near_.data() + at, far_.data() + at, std::min(word_bytes, size_bytes - at));
          wait_until(begin += link_.read_ns);
        }
      },
      plan);
}

block_times link_transfers::write(std::size_t size_bytes, double gib_s, const block_plan& plan) {
  const std::int64_t occupied = occupied_ns(size_bytes, gib_s);
  return time_block(
      [&] {
        wait_until(now_ns() + link_.setup_ns);
        const std::int64_t arrival = now_ns() + occupied + link_.write_ns;
        std::memcpy(far_.data(), near_.data(), size_bytes);
        wait_until(arrival);
      },
      plan);
}

block_times link_transfers::read(std::size_t size_bytes, double gib_s, const block_plan& plan) {
  const std::int64_t occupied = occupied_ns(size_bytes, gib_s);
  return time_block(
      [&] {
        const std::int64_t begin = now_ns() + link_.setup_ns;
        wait_until(begin + link_.read_ns / 2);
        std::memcpy(near_.data(), far_.data(), size_bytes);
        wait_until(begin + link_.read_ns + occupied);
      },
      plan);
}

}  // namespace ham::bench
