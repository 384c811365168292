// Ways to wait for calls, and to say where they run: policies, coroutines, executors, event loops, senders.
#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/event_fds.hpp"
#include "ham/msg/bind.hpp"
#include "ham/offload/event_fd.hpp"
#include "ham/offload/function_by_name.hpp"
#include "ham/offload/senders.hpp"
#include "ham/offload/std_future.hpp"
#include "soak/verbs.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;
using offload::async;
using result_future = offload::future<std::uint64_t>;

struct made_call {
  stamp made;
  std::uint64_t number;
};
made_call any_call(worker& self) {
  const stamp made = self.claim();
  return {made, self.random()};
}

/// Four calls one after the other, each with the result of the one before.
offload::task<std::uint64_t> four_calls(node_t node, std::vector<stamp> made, std::uint64_t number) {
  for (const stamp one : made) number = co_await async(node, fn<&work>, one, number);
  co_return number;
}
offload::task<std::uint64_t> on_pool(node_t node, stamp made, std::uint64_t number) {
  const std::uint64_t first = co_await offload::on(offload::pool_executor{}, async(node, fn<&work>, made, number));
  co_return mixed(first);
}

}  // namespace

/// On the thread pool of the node, with bound values, by name, as futures that do not throw.
void policy_verb(worker& self) {
  const node_t node = self.any_node();
  for (int i = 0; i < 10; ++i) {
    made_call one = any_call(self);
    self.take(async(node, pooled(fn<&work>), one.made, one.number), one.made, node, mixed(one.number));
    one = any_call(self);
    self.take(async(node, ham::bind(fn<&work>, one.made, one.number)), one.made, node, mixed(one.number));
    one = any_call(self);
    auto tried = offload::attempt([&] { return async(node, fn<&work>, one.made, one.number); });
    static_cast<void>(tried.has_value());
    self.take(std::move(tried), one.made, node, mixed(one.number));
  }
  static const offload::function_by_name<std::uint64_t(std::uint64_t)> named_work(work_name);
  const std::uint64_t number = self.random();
  self.count_calls(1);
  if (named_work(node, number) != mixed(number))
    self.wrong(node, "a function that was called by name gives a wrong result");
}

void coroutine_verb(worker& self) {
  const node_t node = self.any_node();
  const std::uint64_t number = self.random();
  std::vector<stamp> made;
  for (int i = 0; i < 4; ++i) made.push_back(self.claim());
  const made_call other = any_call(self);
  auto first = four_calls(node, made, number);
  auto second = on_pool(node, other.made, other.number);
  try {
    const std::uint64_t value = first.get();
    for (const stamp one : made) self.expect(one, runs::once);
    if (value != mixed(mixed(mixed(mixed(number))))) self.wrong(node, "the result of a coroutine is wrong");
  } catch (const node_failure& why) {
    self.lost(stamp{}, -2, why);  // of which of the calls it is not said
  }
  self.take_by([&] { return second.get(); }, other.made, node, mixed(mixed(other.number)));
}

/// Shared futures, the first of several, futures of the standard library, continuations that call.
void combined_verb(worker& self) {
  const node_t node = self.any_node();
  const made_call one = any_call(self);
  const auto shared = async(node, fn<&work>, one.made, one.number).share();
  auto doubled = shared.then([](const std::uint64_t& value) { return 2 * value; });
  self.take_by([&] { return shared.get(); }, one.made, node, mixed(one.number));
  self.take(std::move(doubled), one.made, node, 2 * mixed(one.number));

  std::vector<made_call> race;
  std::vector<result_future> racers;
  for (int i = 0; i < 3; ++i) {
    race.push_back(any_call(self));
    racers.push_back(async(node, fn<&work>, race.back().made, race.back().number));
  }
  auto [first, futures] = offload::when_any(std::move(racers)).get();
  if (!futures[first].test()) self.wrong(node, "when_any names a future that has not settled");
  for (std::size_t i = 0; i < futures.size(); ++i)
    self.take(std::move(futures[i]), race[i].made, node, mixed(race[i].number));

  const made_call plain = any_call(self);
  auto standard = offload::to_std_future(async(node, fn<&work>, plain.made, plain.number));
  while (standard.wait_for(0s) != std::future_status::ready) offload::progress();
  self.take_by([&] { return standard.get(); }, plain.made, node, mixed(plain.number));

  const made_call outer = any_call(self);
  const stamp inner = self.claim();
  auto chain = async(node, fn<&work>, outer.made, outer.number).then([node, inner](std::uint64_t value) {
    return async(node, fn<&work>, inner, value);
  });
  self.take(std::move(chain), inner, node, mixed(mixed(outer.number)));
}

/// Continuations that this thread runs itself, and those of the pool's threads.
void executor_verb(worker& self) {
  const node_t node = self.any_node();
  const auto here = std::this_thread::get_id();
  offload::work_queue queue;
  const made_call one = any_call(self);
  auto shown = async(node, fn<&work>, one.made, one.number).then(std::ref(queue), [here](std::uint64_t value) {
    return std::this_thread::get_id() == here ? value : 0;
  });
  while (!shown.test()) queue.run();
  self.take(std::move(shown), one.made, node, mixed(one.number));
  const made_call other = any_call(self);
  self.take(async(node, fn<&work>, other.made, other.number)
                .then(offload::pool_executor{}, [](std::uint64_t value) { return value + 1; }),
            other.made, node, mixed(other.number) + 1);
}

/// One thread at a time has the loop, whose turns run the continuations, unless other threads make progress.
void event_loop_verb(worker& self) {
  static std::mutex has_loop;
  const std::lock_guard guard(has_loop);
  static const base::unique_fd loop = [] {
    base::unique_fd made = base::make_epoll();
    base::watch(made.get(), offload::event_fd(), EPOLLIN, nullptr);
    return made;
  }();
  const node_t node = self.any_node();
  struct watched {
    made_call call;
    result_future result;
    std::atomic<unsigned> told{0};
  };
  std::vector<std::shared_ptr<watched>> calls;  // continuations have them, too
  const std::uint64_t count = 1 + self.below(50);
  bool refused = false;
  for (std::uint64_t i = 0; i < count && !refused; ++i) {
    const auto one = std::make_shared<watched>();
    one->call = any_call(self);
    try {
      auto result = async(node, fn<&work>, one->call.made, one->call.number);
      if (i % 2 == 0) {
        result.on_result([one](result_future settled) {
          one->result = std::move(settled);
          one->told.fetch_add(1);
        });
      } else {
        one->result = std::move(result);
        one->result.on_ready([one] { one->told.fetch_add(1); });
      }
      calls.push_back(one);
    } catch (const node_failure& why) {
      self.lost(one->call.made, node, why);
      refused = true;
    }
  }
  for (const auto& one : calls) {
    while (one->told.load() == 0) {
      epoll_event event{};
      if (::epoll_wait(loop.get(), &event, 1, 1) == 1) offload::serve_event_fd();
    }
  }
  for (const auto& one : calls) {
    if (one->told.load() != 1) self.wrong(node, "a continuation ran twice");
    if (!one->result.test()) self.wrong(node, "a continuation ran before its future had settled");
    self.take(std::move(one->result), one->call.made, node, mixed(one->call.number));
  }
}

void sender_verb(worker& self) {
  const node_t node = self.any_node();
  const auto result_of = [&](auto sender) {
    auto got = offload::sync_wait(std::move(sender));
    if (!got) self.wrong(node, "a sender was stopped, and nobody has asked for it");
    return got ? std::get<0>(*got) : 0;
  };
  made_call one = any_call(self);
  self.take_by([&] { return result_of(offload::call(node, fn<&work>, one.made, one.number)); }, one.made, node,
               mixed(one.number));
  one = any_call(self);
  self.take_by(
      [&] {
        return result_of(offload::schedule(node) | offload::then(ham::bind(fn<&work>, one.made, one.number)) |
                         offload::then([](std::uint64_t value) { return value + 1; }));
      },
      one.made, node, mixed(one.number) + 1);
  one = any_call(self);
  self.take_by([&] { return result_of(offload::as_sender(async(node, fn<&work>, one.made, one.number))); }, one.made,
               node, mixed(one.number));
}

namespace {

struct completion {
  std::optional<std::uint64_t> value;
  std::exception_ptr error;
  std::atomic<unsigned> times{0};
};
struct environment {
  std::stop_token token;
  [[nodiscard]] std::stop_token query(offload::execution::get_stop_token_t) const noexcept { return token; }
};
struct receiver {
  using receiver_concept = offload::execution::receiver_tag;
  completion* to;
  std::stop_token token;
  void set_value(std::uint64_t value) noexcept {
    to->value = value;
    to->times.fetch_add(1);
  }
  void set_error(std::exception_ptr why) noexcept {
    to->error = std::move(why);
    to->times.fetch_add(1);
  }
  void set_stopped() noexcept { to->times.fetch_add(1); }
  [[nodiscard]] environment get_env() const noexcept { return {token}; }
};

}  // namespace

/// Operations by hand, which a token stops before the start, while they wait, or while they run.
void stopped_sender_verb(worker& self) {
  const node_t node = self.any_node();
  std::stop_source source;
  completion first_end, second_end;
  const made_call first_call = any_call(self);
  const made_call second_call = any_call(self);
  auto first = offload::call(node, fn<&until_stopped>, first_call.made, first_call.number)
                   .connect(receiver{&first_end, source.get_token()});
  auto second = offload::call(node, fn<&until_stopped>, second_call.made, second_call.number)
                    .connect(receiver{&second_end, source.get_token()});
  first.start();
  if (self.below(2) == 0) {
    second.start();
    source.request_stop();
  } else {
    source.request_stop();
    second.start();
    self.expect(second_call.made, runs::never);
  }
  while (first_end.times.load() == 0 || second_end.times.load() == 0) offload::progress_for(1ms);
  const auto judge = [&](const completion& end, const made_call& call) {
    try {
      if (end.error != nullptr) std::rethrow_exception(end.error);
      if (end.value && *end.value != mixed(call.number)) self.wrong(node, "a stopped sender has a wrong value");
      if (end.value) self.expect(call.made, runs::once);
    } catch (const node_failure& why) {
      self.lost(call.made, node, why);
    }
    if (end.times.load() != 1) self.wrong(node, "a receiver was completed twice");
  };
  judge(first_end, first_call);
  judge(second_end, second_call);
}

}  // namespace soak
