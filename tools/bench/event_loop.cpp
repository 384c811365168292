// ham-bench event-loop: a call whose host waits in epoll, beside a bare round trip over two event descriptors.
#include "benchmarks.hpp"

#include "affinity.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <thread>

namespace ham::inline v1::bench {

namespace {

/// An epoll descriptor of one other descriptor.
class watched {
 public:
  explicit watched(int fd) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event interest{EPOLLIN, {.fd = fd}};
    if (epoll_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &interest) != 0)
      throw std::runtime_error("epoll is refused");
  }
  ~watched() { ::close(epoll_); }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;

  void wait() const {
    epoll_event event{};
    while (::epoll_wait(epoll_, &event, 1, -1) != 1) {
    }
  }

 private:
  int epoll_;
};

class event {
 public:
  event() : fd_(::eventfd(0, EFD_CLOEXEC)), watched_(fd_) {}
  ~event() { ::close(fd_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  void set(std::uint64_t value) const {
    if (::write(fd_, &value, sizeof value) != sizeof value) throw std::runtime_error("an event cannot be written");
  }
  std::uint64_t wait() const {
    watched_.wait();
    std::uint64_t value = 0;
    return ::read(fd_, &value, sizeof value) == sizeof value ? value : 0;
  }

 private:
  int fd_;
  watched watched_;
};

/// A thread on the target's core that waits in epoll and answers.
class answering_thread {
 public:
  explicit answering_thread(int core)
      : thread_([this, core] {
          pin_this_thread(core);
          while (question_.wait() == 1) answer_.set(1);
        }) {}
  ~answering_thread() {
    question_.set(2);
    thread_.join();
  }
  answering_thread(const answering_thread&) = delete;
  answering_thread& operator=(const answering_thread&) = delete;

  void ask() const {
    question_.set(1);
    answer_.wait();
  }

 private:
  event question_, answer_;
  std::thread thread_;
};

/// The middle of single times.
block_times with_median(block_times of) {
  of.typical_ns = median(of.single_ns);
  return of;
}

}  // namespace

report run_event_loop(const settings& how) {
  session with(how);
  const answering_thread floor(how.cores.target);
  const watched loop(offload::event_fd());
  const auto call = [&] {
    bool done = false;
    offload::async(1, fn<&nothing>).on_result([&done](offload::future<void> result) { done = result.has_value(); });
    while (!done) {
      loop.wait();
      offload::serve_event_fd();
    }
  };
  block_plan plan = how.plan();
  plan.group = 16;
  paired_rounds rounds;
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        rounds, round,
        [&] {
          with.let_targets_sleep();
          return with_median(time_block([&] { floor.ask(); }, plan));
        },
        [&] { return with_median(time_block(call, plan)); });
  }
  const comparison cost = rounds.compared();
  table found{
      "empty call in an epoll loop (median of single calls), and an event descriptor written and another awaited",
      {},
      {}};
  add_median_columns(found.columns, "call", "us");
  found.columns.insert(found.columns.end(), {"p99 us", "floor us", "call / floor", "quartiles"});
  auto& row = found.rows.emplace_back();
  add_median(row, cost, 1000, 2);
  row.insert(row.end(), {{quantile(rounds.singles, 0.99) / 1000, 2},
                         {cost.floor / 1000, 2},
                         {cost.median_of_ratios, 2},
                         quartiles_of_ratio(cost)});
  report result{"event-loop", {}, {}, {}};
  result.tables.push_back(std::move(found));
  result.bars.push_back(
      {"call in an epoll loop / event descriptors", cost.median_of_ratios, bar::direction::at_most, 2, "x"});
  result.remarks.emplace_back("floor: two threads, each of which sleeps in epoll until the other has written");
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
