// One scenario for each protocol: what the nodes do, and which frames and outcomes are events of its model.
#include "sim/recording.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "core/frame_header.hpp"
#include "core/greeting.hpp"
#include "core/peer_table.hpp"
#include "core/relay_frame.hpp"
#include "ham/offload.hpp"
#include "runtime/engine.hpp"
#include "sim/scheduler.hpp"
#include "sim/world.hpp"

namespace ham::inline v1::sim {

void (*on_delete)(void* at) noexcept = nullptr;

namespace {

using detail::frame_header;
using detail::wire_kind;
using transport::sim::packet;

std::vector<event>* events = nullptr;

void note_event(int who, int what) {
  events->emplace_back(who, what);
  running->note_progress();
}

/// A job whose frames are watched.
class observed_world final : public world {
 public:
  using observer = std::function<void(node_t from, node_t to, packet& what)>;
  observed_world(const network_conditions& conditions, observer sent, observer consumed)
      : world(conditions, 0), sent_(std::move(sent)), consumed_(std::move(consumed)) {}
  void on_sent(node_t from, node_t to, packet& what) override { sent_(from, to, what); }
  void on_consumed(node_t from, node_t to, const packet& what) override {
    packet seen = what;
    consumed_(from, to, seen);
  }

 private:
  observer sent_;
  observer consumed_;
};

network_conditions conditions_for(random_source& random, std::size_t max_payload) {
  return {std::array<std::int64_t, 3>{0, 2'000, 50'000}[random.below(3)], 64, max_payload};
}

void sleep_some(random_source& random, std::uint64_t max_ns) {
  if (random.once_in(2)) base::sleep_ns(static_cast<std::int64_t>(random.below(max_ns)));
}

/// Lets the node go on until `done`.
template <class Done>
void await(Done done) {
  while (!done()) {
    base::sleep_ns(20'000);
    detail::current().poll_once();
  }
}

void nothing() {}

// ---- settling and removal: two calls of the host to a target

namespace two_calls {

constexpr int calls = 2;
int target_observer = 0;  // who sees that a call runs
int run_begins = 0;       // what it sees: this, and the number of the call

std::int64_t traced(int number, std::int64_t takes_ns) {
  note_event(target_observer, run_begins + number);
  if (takes_ns != 0) base::sleep_ns(takes_ns);
  return number;
}

/// Which of the two a frame belongs to; -1: neither.
class numbering {
 public:
  int of(const packet& what) {
    const frame_header head = frame_header::decode(what.head);
    if (head.is_call() && head.id() != detail::no_reply) {
      const auto [at, fresh] = numbers_.emplace(what.head.call, next_);
      if (fresh) ++next_;
      return at->second;
    }
    if (!is_reply(what)) return -1;
    return find(what);
  }
  /// Which of the two a stop is for.
  [[nodiscard]] int of_stop(const packet& what) const {
    return frame_header::decode(what.head).kind() == wire_kind::cancel ? find(what) : -1;
  }
  [[nodiscard]] static bool is_reply(const packet& what) {
    const wire_kind kind = frame_header::decode(what.head).kind();
    return kind == wire_kind::reply || kind == wire_kind::reply_error;
  }

 private:
  [[nodiscard]] int find(const packet& what) const {
    const auto found = numbers_.find(what.head.call);
    return found == numbers_.end() ? -1 : found->second;
  }

  std::map<std::uint32_t, int> numbers_;
  int next_ = 0;
};

}  // namespace two_calls

/// As tests/models/protocols/settling.pml: 0 leaving, 1 arriving, 2 and 3 outcomes, 4 the target.
void record_settling(random_source& random) {
  using namespace two_calls;
  target_observer = 4;
  run_begins = 10;
  numbering numbers;
  int arrived = 0;
  std::array<bool, calls> may_stop{};  // the user; stops for deadlines are no events
  observed_world job(
      conditions_for(random, 512),
      [&](node_t, node_t to, packet& what) {
        const int number = numbers.of(what);
        if (number >= 0) note_event(to == 1 ? 0 : 4, to == 1 ? number : 20 + number);
        const int stopped = to == 1 ? numbers.of_stop(what) : -1;
        if (stopped >= 0 && may_stop[static_cast<std::size_t>(stopped)]) note_event(0, 'c');
      },
      [&](node_t, node_t to, packet& what) {
        const int number = to == 0 ? numbers.of(what) : -1;
        if (number < 0) return;
        note_event(1, number);
        ++arrived;
      });
  const auto settle = [&](int number, offload::future<std::int64_t>& result) {
    try {
      static_cast<void>(result.get());
      note_event(2 + number, 'v');
    } catch (const operation_cancelled&) {  // the target's answer as well
      note_event(2 + number, 'v');
    } catch (const deadline_exceeded&) {
      note_event(2 + number, 'l');
    }
  };
  job.run_host([&] {
    runtime here(runtime_options{.nodes = "sim:1"});
    static_cast<void>(offload::get_node_descriptor(1));  // greeted
    std::array<offload::future<std::int64_t>, calls> results;
    std::array<bool, calls> given_up{};
    const auto finish = [&](int number) {
      const auto at = static_cast<std::size_t>(number);
      if (!results[at].valid()) return;
      sleep_some(random, 60'000);
      if (may_stop[at]) {
        static_cast<void>(results[at].request_stop());
        sleep_some(random, 60'000);
      }
      if (given_up[at] && !results[at].test()) {
        note_event(2 + number, 'g');
        results[at].detach();
      } else {
        settle(number, results[at]);
      }
    };
    for (int number = 0; number < calls; ++number) {
      const auto at = static_cast<std::size_t>(number);
      const auto takes = static_cast<std::int64_t>(random.once_in(2) ? random.below(80'000) : 0);
      const std::chrono::nanoseconds limit(1'000 + random.below(120'000));
      given_up[at] = random.once_in(3);
      const std::uint64_t how = random.below(4);
      may_stop[at] = how == 2;
      const offload::destination to = how < 2 ? offload::within(1, limit) : how == 2 ? offload::stoppable(1) : 1;
      results[at] = offload::async(to, fn<&traced>, number, takes);
      if (random.once_in(2)) finish(number);
    }
    for (int number = 0; number < calls; ++number) finish(number);
    await([&] { return arrived == calls; });
  });
  job.await_targets();
}

/// As removal.pml: 0 the sending thread, 1 the target, 2 its end, 3 and 4 outcomes. Half of the targets are removed
/// while they live, the others are killed.
void record_removal(random_source& random) {
  using namespace two_calls;
  target_observer = 1;
  run_begins = 20;
  numbering numbers;
  observed_world job(
      conditions_for(random, 512),
      [&](node_t, node_t to, packet& what) {
        const int number = numbers.of(what);
        if (number >= 0) note_event(to == 1 ? 0 : 1, to == 1 ? 10 + number : 30 + number);
      },
      [&](node_t, node_t to, packet& what) {
        const int number = to == 1 ? numbers.of(what) : -1;
        if (number >= 0) note_event(1, 10 + number);
      });
  job.run_host([&] {
    runtime here(runtime_options{.nodes = "sim:1"});
    const auto used = here.use();  // a target that ends in order would leave this thread without one
    static_cast<void>(offload::get_node_descriptor(1));
    const bool is_removed = random.once_in(2);
    std::thread remover;
    if (is_removed) {
      remover = std::thread([&here, after_ns = static_cast<std::int64_t>(random.below(60'000))] {
        const auto used_here = here.use();
        base::sleep_ns(after_ns);
        offload::remove_node(1);
      });
    } else {
      running->kill_after(job.process_of(1), random.below(80));
    }
    std::array<offload::future<std::int64_t>, calls> results;
    for (int number = 0; number < calls; ++number) {
      sleep_some(random, 20'000);
      const bool limited = number == 0 && random.once_in(2);
      const offload::destination to = limited
                                          ? offload::within(1, std::chrono::nanoseconds(1'000 + random.below(100'000)))
                                          : offload::destination(1);
      try {
        results[static_cast<std::size_t>(number)] =
            offload::async(to, fn<&traced>, number, static_cast<std::int64_t>(random.below(40'000)));
      } catch (const node_failure&) {
        note_event(0, 20 + number);
        note_event(3 + number, 'n');
      }
    }
    for (int number = 0; number < calls; ++number) {
      auto& result = results[static_cast<std::size_t>(number)];
      if (!result.valid()) continue;
      try {
        static_cast<void>(result.get());
        note_event(3 + number, 'v');
      } catch (const deadline_exceeded&) {
        note_event(3 + number, 'l');
      } catch (const node_failure& lost) {
        note_event(3 + number, lost.outcome() == call_outcome::not_run ? 'n' : 'm');
      }
    }
    await([&] { return !offload::alive(1); });
    if (is_removed) remover.join();
    note_event(2, is_removed ? 1 : 0);
  });
  job.await_targets();
}

// ---- greeting

std::int64_t call_other(node_t other) {
  offload::sync(other, fn<&nothing>);
  return 0;
}

/// As greeting.pml: 0 and 1 what each of the two sends, 2 and 3 what each receives.
void record_greeting(random_source& random) {
  const bool differ = random.once_in(2);
  const auto is_between = [](node_t from, node_t to) { return from + to == 3 && from != 0 && to != 0; };
  const auto code_of = [](const packet& what) {
    switch (frame_header::decode(what.head).kind()) {
      case wire_kind::hello: return static_cast<int>('h');
      case wire_kind::manifest: return static_cast<int>('m');
      default: return 0;
    }
  };
  observed_world job(
      conditions_for(random, std::size_t{1} << 20U),
      [&](node_t from, node_t to, packet& what) {
        const int code = is_between(from, to) ? code_of(what) : 0;
        if (code == 0) return;
        note_event(from - 1, code);
        if (!differ || code != 'h') return;
        // As if the receiver had been built from other sources.
        auto greeting = detail::greeting::decode(std::span<const std::byte>(what.payload).first(what.size));
        greeting.manifest.lo ^= 1U;
        const std::vector<std::byte> changed = greeting.encode();
        std::ranges::copy(changed, what.payload.begin());
      },
      [&](node_t from, node_t to, packet& what) {
        const int code = is_between(from, to) ? code_of(what) : 0;
        if (code != 0) note_event(2 + to - 1, code);
      });
  job.run_host([&] {
    runtime here(runtime_options{.nodes = "sim:2"});
    const bool both = random.once_in(2);
    auto first = offload::async(1, fn<&call_other>, 2);
    sleep_some(random, 20'000);
    auto second = both ? offload::async(2, fn<&call_other>, 1) : offload::async(1, fn<&call_other>, 2);
    first.get();
    second.get();
  });
  job.await_targets();
}

// ---- credit

constexpr int pings = 60;                   // FRAMES
constexpr std::size_t ping_bytes = 58'900;  // 17 of them are in the window, 5 are acknowledged together

void swallow_ping(const std::vector<char>&) {}

std::int64_t flood(node_t other) {
  const std::vector<char> load(ping_bytes);
  for (int i = 0; i < pings; ++i) offload::ping(other, fn<&swallow_ping>, load);
  return 0;
}

/// What a credit means: how many of the pings that it acknowledges.
class relayed_bytes {
 public:
  void add(std::uint64_t cost, bool is_ping) {
    sum_ += cost;
    if (is_ping) ++pings_;
    pings_until_[sum_] = pings_;
  }
  [[nodiscard]] int pings_in(std::uint64_t consumed) const {
    const auto found = pings_until_.find(consumed);
    return found == pings_until_.end() ? -1 : found->second;
  }

 private:
  std::uint64_t sum_ = 0;
  int pings_ = 0;
  std::map<std::uint64_t, int> pings_until_{{0, 0}};
};

/// As credit.pml: 0 and 1 what each target sends, 2 and 3 what each receives, 4 the host.
void record_credit(random_source& random) {
  std::array<relayed_bytes, 2> sent;  // by each
  std::array<int, 2> arrived{};
  const auto payload_of = [](const packet& what) {
    return std::span<const std::byte>(what.payload).first(what.size).subspan(detail::relay_sender_bytes);
  };
  /// 0: a ping; 100 and more: a credit; -1: something else.
  const auto code_of = [&](node_t sender, const packet& what) {
    const std::uint32_t relayed = frame_header::decode(what.head).relay_what();
    if (relayed == detail::to_byte(wire_kind::call)) return 0;
    if (relayed != detail::relay_credit) return -1;
    const auto receiver = static_cast<std::size_t>(2 - sender);
    return 100 + sent[receiver].pings_in(detail::consumed_of_credit(payload_of(what)));
  };
  const auto is_relayed = [](const packet& what) { return frame_header::decode(what.head).kind() == wire_kind::relay; };
  observed_world job(
      conditions_for(random, std::size_t{1} << 16U),
      [&](node_t from, node_t, packet& what) {
        if (from == 0 || !is_relayed(what)) return;
        const std::uint32_t relayed = frame_header::decode(what.head).relay_what();
        const auto sender = static_cast<std::size_t>(from - 1);
        if (detail::is_relayed_frame(relayed, payload_of(what)))
          sent[sender].add(detail::relay_cost(what.size - detail::relay_prefix_bytes),
                           relayed == detail::to_byte(wire_kind::call));
        if (const int code = code_of(from, what); code >= 0) note_event(from - 1, code);
      },
      [&](node_t from, node_t to, packet& what) {
        if (!is_relayed(what)) return;
        const node_t sender = to == 0 ? from : 3 - to;
        const int code = code_of(sender, what);
        if (code < 0) return;
        if (to == 0) {
          note_event(4, 2 * (sender - 1) + (code == 0 ? 0 : 1));
          return;
        }
        note_event(2 + to - 1, code);
        if (code == 0) ++arrived[static_cast<std::size_t>(to - 1)];
      });
  job.run_host([&] {
    runtime here(runtime_options{.nodes = "islands:2"});
    auto first = offload::async(1, fn<&flood>, 2);
    sleep_some(random, 200'000);
    auto second = offload::async(2, fn<&flood>, 1);
    first.get();
    second.get();
    await([&] { return arrived[0] == pings && arrived[1] == pings; });
  });
  job.await_targets();
}

// ---- epochs: the table of peers, whose place goes from life to life

detail::peer* lives[4] = {};

/// As epochs.pml: 0 the user's thread, 1 the one that exchanges records, 2 what is held and freed.
void record_epochs(random_source& random) {
  constexpr int last_life = 3;
  const auto number_of = [](int life) {
    return static_cast<node_t>(1 + (life - 1) * static_cast<int>(detail::peer_table::most));
  };
  detail::peer_table table(2);
  lives[1] = table.claim(number_of(1));
  on_delete = [](void* at) noexcept {
    for (int life = 1; life <= last_life; ++life) {
      if (at == nullptr || lives[life] != at) continue;
      lives[life] = nullptr;
      note_event(1, 10 + life);
      note_event(2, 10 + life);
    }
  };
  std::atomic<int> latest{1};
  random_source control_random(random.next());
  std::thread control([&] {
    for (int life = 2; life <= last_life; ++life) {
      sleep_some(control_random, 30'000);
      table[number_of(life - 1)].state.store(detail::peer_state::lost);
      table.grow_to(static_cast<std::size_t>(number_of(life)) + 1);
      note_event(1, life);
      lives[life] = table.claim(number_of(life));
      latest.store(life);
    }
  });
  sleep_some(random, 60'000);
  for (bool done = false; !done;) {
    const int life = latest.load();
    const detail::peer_hold held = table.hold(number_of(life));
    if (!held) continue;
    note_event(0, 10 + life);
    note_event(2, 1);
    sleep_some(random, 30'000);
    if (detail::peer* const to = table.lock(number_of(life))) {
      note_event(0, 20 + life);
      to->sending.unlock();
    } else {
      note_event(0, 30 + life);
    }
    sleep_some(random, 30'000);
    note_event(2, 2);
    done = true;
  }
  control.join();
  on_delete = nullptr;
}

// ---- epochs: a call to a supervised node, which is repeated in its next life

namespace one_call {

constexpr node_t last_life = 3;  // LIVES: each is a process with the next number

enum class moment : std::uint8_t { started, sent, running, settled };
std::function<void(node_t life, moment now)> come_to;

std::int64_t traced_in_life(std::int64_t takes_ns) {
  note_event(4, 10 + offload::this_node());
  come_to(offload::this_node(), moment::running);
  if (takes_ns != 0) base::sleep_ns(takes_ns);
  return takes_ns;
}

}  // namespace one_call

/// As epochs.pml: 3 the host, 4 the node in all its lives, 5 their ends, 6 how often it may be repeated and the
/// outcome. Up to two lives are killed, the call may be repeated as often.
void record_respawn(random_source& random) {
  using namespace one_call;
  const auto deaths = static_cast<node_t>(random.once_in(6) ? 0 : random.once_in(3) ? 1 : 2);
  const auto times = static_cast<unsigned>(random.below(last_life));
  struct fate {
    moment since;  // its process is killed soon after
    std::uint64_t seams;
    std::atomic<bool> doomed{false};
  };
  std::array<fate, last_life> fates;
  for (fate& one : fates) {
    constexpr std::array any{moment::started, moment::sent,    moment::sent,
                             moment::running, moment::running, moment::settled};
    one.since = any[random.below(any.size())];
    one.seams = random.below(one.since == moment::started ? 300 : 10);
  }
  come_to = [&](node_t life, moment now) {
    fate& its = fates[static_cast<std::size_t>(life - 1)];
    if (life <= deaths && now >= its.since && !its.doomed.exchange(true)) running->kill_after(life, its.seams);
  };
  std::atomic<bool> settled{false};
  std::set<std::pair<node_t, std::uint32_t>> attempts;  // life, id
  const auto is_its_reply = [&](node_t from, node_t to, const packet& what) {
    return to == 0 && two_calls::numbering::is_reply(what) && attempts.contains({from, what.head.call});
  };
  observed_world job(
      conditions_for(random, 512),
      [&](node_t from, node_t to, packet& what) {
        const frame_header head = frame_header::decode(what.head);
        if (from == 0 && head.is_call() && head.id() != detail::no_reply) {
          attempts.emplace(to, what.head.call);
          note_event(3, 10 + to);
          come_to(to, moment::sent);
        } else if (is_its_reply(from, to, what)) {
          note_event(4, 20 + from);
        }
      },
      [&](node_t from, node_t to, packet& what) {
        if (is_its_reply(from, to, what)) note_event(3, 20 + from);
      });
  std::atomic<node_t> latest{1};
  job.run_host([&] {
    runtime here(runtime_options{.nodes = random.once_in(2) ? "sim:1" : "islands:1"});
    const auto used = here.use();
    static_cast<void>(offload::get_node_descriptor(1));
    offload::supervision how;
    how.on_respawn = [&](const offload::respawned& fresh) {
      note_event(3, fresh.process);
      latest.store(fresh.process);
      come_to(fresh.process, settled.load() ? moment::settled : moment::started);
    };
    offload::supervise(1, std::move(how));
    come_to(1, moment::started);
    sleep_some(random, 60'000);
    note_event(6, static_cast<int>(times));
    const auto takes = static_cast<std::int64_t>(random.once_in(4) ? 0 : random.below(500'000));
    try {
      static_cast<void>(offload::sync(offload::retry(1, times), idempotent(fn<&traced_in_life>), takes));
      note_event(6, 'v');
    } catch (const node_failure& lost) {
      note_event(6, lost.outcome() == call_outcome::not_run ? 'n' : 'm');
    }
    settled.store(true);
    come_to(latest.load(), moment::settled);
    await([&] { return latest.load() == deaths + 1; });
    for (node_t life = 1; life <= deaths; ++life) note_event(5, life);
  });
  job.await_targets();
  come_to = nullptr;
}

struct scenario {
  std::string_view name;
  void (*run)(random_source& random);
};
constexpr std::array scenarios{scenario{"settling", &record_settling}, scenario{"removal", &record_removal},
                               scenario{"greeting", &record_greeting}, scenario{"credit", &record_credit},
                               scenario{"epochs", &record_epochs},     scenario{"respawn", &record_respawn}};

}  // namespace

bool can_record(std::string_view name) noexcept {
  return std::ranges::find(scenarios, name, &scenario::name) != scenarios.end();
}

std::vector<event> record(std::string_view name, std::uint64_t seed) {
  std::vector<event> seen;
  events = &seen;
  random_source random(seed);
  schedule how;
  how.seed = random.next();
  how.mean_run = std::array<std::uint64_t, 3>{12, 60, 250}[random.below(3)];
  how.mean_tick_ns = std::array<std::int64_t, 2>{500, 4'000}[random.below(2)];
  scheduler control(how, [](const std::string&) {});
  control.begin();
  std::ranges::find(scenarios, name, &scenario::name)->run(random);
  control.end();
  return seen;
}

}  // namespace ham::sim
