// Steps, drawn from a seed.
#include "sim/workload.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "ham/offload.hpp"
#include "runtime/engine.hpp"
#include "sim/oracle.hpp"
#include "sim/scheduler.hpp"
#include "sim/world.hpp"

namespace ham::sim {
namespace {

oracle* the_oracle = nullptr;
int objects_alive = 0;

// ---- what is called

using call_number = std::uint32_t;

[[nodiscard]] std::int64_t result_of(call_number call, std::int64_t value) { return value * 31 + call; }

void compute(std::int64_t ns) {
  if (ns != 0) base::sleep_ns(ns);
}

std::int64_t work(call_number call, std::int64_t value, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  compute(takes_ns);
  return result_of(call, value);
}

void note(call_number call, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  compute(takes_ns);
}

std::vector<std::int32_t> reversed(call_number call, std::vector<std::int32_t> values) {
  the_oracle->begin(call, offload::this_node());
  std::ranges::reverse(values);
  return values;
}

[[nodiscard]] std::string words_of(call_number call) { return "call " + std::to_string(call) + " throws"; }

std::int64_t throwing(call_number call) {
  the_oracle->begin(call, offload::this_node());
  throw std::runtime_error(words_of(call));
}

/// From node to node; the last one answers. `load` makes the messages longer.
std::int64_t along(call_number call, std::vector<node_t> route, std::vector<call_number> calls,
                   std::vector<char> load) {
  the_oracle->begin(call, offload::this_node());
  if (route.empty()) return static_cast<std::int64_t>(load.size());
  const node_t next = route.back();
  const call_number next_call = calls.back();
  route.pop_back();
  calls.pop_back();
  return 1 + offload::sync(next, fn<&along>, next_call, route, calls, load);
}

class counter {
 public:
  explicit counter(std::int64_t begin) : value_(begin) { ++objects_alive; }
  ~counter() { --objects_alive; }
  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;
  std::int64_t add(call_number call, std::int64_t what) {
    the_oracle->begin(call, offload::this_node());
    return value_ += what;
  }

 private:
  std::int64_t value_;
};

/// What a node that nobody uses any more still has of calls: pending ones, messages that wait to leave or to begin,
/// room that is not given back.
std::string left_over() {
  detail::engine& here = detail::current();
  std::size_t pending = 0;
  here.locked([&] {
    here.calls.fail_pending([&](const detail::call_slot&) {
      ++pending;
      return nullptr;
    });
  });
  std::string text;
  if (pending != 0) text += std::to_string(pending) + " pending calls, ";
  if (here.calls_in.has_deferred()) text += "calls that have not begun, ";
  if (const auto full = here.peers.filled_outboxes().load(); full != 0)
    text += std::to_string(full) + " outboxes that are not empty, ";
  if (here.flow.take(here.flow.max_bytes()))
    here.flow.drop(here.flow.max_bytes());
  else
    text += "room of calls that is not given back, ";
  return text;
}

// ---- who calls

/// What all threads of the host know of the faults that were made.
struct faults {
  std::set<node_t> may_be_lost;  ///< by the host
  bool any = false;              ///< so that calls between targets may fail
  bool any_added = false;
};

/// A thread of the host that takes steps.
class actor {
 public:
  actor(const plan& what, int number, int steps, medium over, std::vector<node_t>& nodes, faults& made, world& in)
      : plan_(what),
        number_(number),
        steps_(steps),
        over_(over),
        random_(what.seed * 1'000'003 + static_cast<std::uint64_t>(number)),
        nodes_(nodes),
        faults_(made),
        world_(in) {}

  void run() {
    for (int i = 0; i < steps_; ++i) {
      const auto kind = static_cast<step>(random_.below(steps_there_are));
      const std::uint64_t seed = random_.next();  // a step that is left out changes nothing in the others
      if (!plan_.has(kind) || (!plan_.only.empty() && !plan_.only.contains({number_, i}))) continue;
      take(kind, i, random_source(seed));
    }
    for (pending& one : pending_) settle(one);
    pending_.clear();
    buffers_.clear();
    objects_.clear();
    contexts_.clear();
  }

 private:
  struct pending {
    offload::future<std::int64_t> result;
    call_number call = 0;
    std::int64_t expected = 0;
    bool may_be_late = false;
    bool throws = false;
    bool passes_others = false;  ///< the failure of another node may be its own
  };
  struct remote_memory {
    buffer_ptr<std::int32_t> at;
    std::vector<std::int32_t> model;
  };
  struct remote_counter {
    offload::remote<counter> at;
    std::int64_t model = 0;
  };
  struct remote_queue {
    offload::context queue;
    std::uint32_t stream;
  };

  [[nodiscard]] node_t any_node(random_source& random) { return nodes_[random.below(nodes_.size())]; }
  [[nodiscard]] node_t any_target(random_source& random) { return nodes_[1 + random.below(nodes_.size() - 1)]; }
  [[nodiscard]] std::uint32_t stream_to(node_t node) {
    std::uint32_t& stream = streams_[node];
    if (stream == 0) stream = the_oracle->new_stream();
    return stream;
  }
  [[nodiscard]] static std::int64_t some_time(random_source& random) {
    return random.once_in(4) ? static_cast<std::int64_t>(random.below(300'000)) : 0;
  }

  /// A failure of this node must have been made.
  void expect_lost(node_t node, const char* why) {
    if (!faults_.may_be_lost.contains(node))
      running->fail("node " + std::to_string(node) + " is lost without a reason: " + why);
  }

  /// Does what may fail because the call's node is lost.
  template <class What>
  void attempt(call_number call, bool passes_others, What what) {
    const node_t node = the_oracle->target_of(call);
    try {
      what();
    } catch (const node_failure& lost) {
      if (passes_others) {
        if (!faults_.any) running->fail(std::string("a node is lost without a reason: ") + lost.what());
        the_oracle->fail(call, call_outcome::may_have_run, lost.what());  // of which of the calls is not known
        return;
      }
      expect_lost(node, lost.what());
      the_oracle->fail(call, lost.outcome(), lost.what());
    } catch (const deadline_exceeded& late) {
      the_oracle->fail(call, late.outcome(), late.what());
      if (!may_be_late_) running->fail(the_oracle->describe(call) + " has no deadline: " + late.what());
    } catch (const call_error& refused) {
      if (passes_others && faults_.any_added) {  // a target may hear of a new one later than of a call to it
        the_oracle->fail(call, call_outcome::may_have_run, refused.what());
        return;
      }
      expect_lost(node, refused.what());
      the_oracle->fail(call, call_outcome::not_run, refused.what());
    }
  }

  void settle(pending& one) {
    may_be_late_ = one.may_be_late;
    attempt(one.call, one.passes_others, [&] {
      try {
        const std::int64_t value = one.result.get();
        if (one.throws) running->fail(the_oracle->describe(one.call) + " has thrown, and gives a value");
        the_oracle->settle(one.call, value, one.expected);
      } catch (const std::runtime_error& thrown) {
        if (!one.throws || dynamic_cast<const error*>(&thrown) != nullptr) throw;
        if (thrown.what() != words_of(one.call))
          running->fail(the_oracle->describe(one.call) + " throws \"" + thrown.what() + "\"");
        the_oracle->settle(one.call);
      }
    });
    may_be_late_ = false;
  }
  void settle_some(random_source& random) {
    while (pending_.size() > 24 || (!pending_.empty() && random.once_in(3))) {
      const auto at = pending_.begin() + static_cast<std::ptrdiff_t>(random.below(pending_.size()));
      pending one = std::move(*at);
      pending_.erase(at);
      settle(one);
    }
  }

  void take(step kind, int number, random_source random);
  void call(step kind, random_source& random);
  void ping(random_source& random);
  void batch(random_source& random);
  void queue(random_source& random);
  void nested(random_source& random);
  void long_message(random_source& random);
  void then(random_source& random);
  void transfer(random_source& random);
  void object(random_source& random);
  void member(step kind, random_source& random);
  void fault(step kind, random_source& random);

  const plan& plan_;
  const int number_;
  const int steps_;
  const medium over_;
  random_source random_;
  std::vector<node_t>& nodes_;
  faults& faults_;
  world& world_;
  bool may_be_late_ = false;
  std::map<node_t, std::uint32_t> streams_;
  std::vector<pending> pending_;
  std::vector<remote_memory> buffers_;
  std::vector<remote_counter> objects_;
  std::vector<remote_queue> contexts_;
};

void actor::take(step kind, int number, random_source random) {
  if (plan_.verbose) {
    const std::string_view name = name_of(kind);
    std::fprintf(stderr, "%.6f thread %d, step %d: %.*s\n", static_cast<double>(running->now_ns()) / 1e9, number_,
                 number, static_cast<int>(name.size()), name.data());
  }
  running->note(static_cast<std::uint64_t>(number) << 8U | static_cast<unsigned>(kind));
  running->note_progress();
  switch (kind) {
    case step::sync:
    case step::async:
    case step::deadline:
    case step::throwing:
    case step::abandon: call(kind, random); break;
    case step::ping: ping(random); break;
    case step::batch: batch(random); break;
    case step::context: queue(random); break;
    case step::nested: nested(random); break;
    case step::long_message: long_message(random); break;
    case step::then: then(random); break;
    case step::transfer: transfer(random); break;
    case step::object: object(random); break;
    case step::add_node:
    case step::remove_node: member(kind, random); break;
    case step::stop:
    case step::cut:
    case step::kill:
    case step::kill_host: fault(kind, random); break;
  }
  settle_some(random);
}

void actor::call(step kind, random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  const auto value = static_cast<std::int64_t>(random.below(1000));
  const std::int64_t takes = some_time(random);
  const std::chrono::nanoseconds limit(random.below(400'000));
  may_be_late_ = kind == step::deadline;
  if (may_be_late_) the_oracle->allow_late(call);
  attempt(call, false, [&] {
    switch (kind) {
      case step::sync:
        the_oracle->settle(call, offload::sync(node, fn<&work>, call, value, takes), result_of(call, value));
        break;
      case step::throwing:
        pending_.push_back({offload::async(node, fn<&throwing>, call), call, 0, false, true, false});
        break;
      case step::deadline:
        pending_.push_back({offload::async(offload::within(node, limit), fn<&work>, call, value, takes), call,
                            result_of(call, value), true, false, false});
        break;
      case step::abandon: offload::async(node, fn<&work>, call, value, takes).detach(); break;
      default:
        pending_.push_back(
            {offload::async(node, fn<&work>, call, value, takes), call, result_of(call, value), false, false, false});
        break;
    }
  });
  may_be_late_ = false;
}

/// Some pings, and now and then a call, behind which they must have run.
void actor::ping(random_source& random) {
  const node_t node = any_node(random);
  const std::uint64_t count = 1 + random.below(random.once_in(8) ? 200 : 12);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(node, stream_to(node));
    attempt(call, false, [&] { offload::ping(node, fn<&note>, call, random.once_in(16) ? 10'000 : 0); });
  }
  if (!random.once_in(3)) return;
  const call_number last = the_oracle->issue(node, stream_to(node));
  bool answered = false;
  attempt(last, false, [&] {
    the_oracle->settle(last, offload::sync(node, fn<&work>, last, 1, 0), result_of(last, 1));
    answered = true;
  });
  if (answered) the_oracle->expect_all_ran(stream_to(node));
}

void actor::batch(random_source& random) {
  const node_t node = any_node(random);
  std::vector<pending> members;
  const std::uint64_t count = 1 + random.below(20);
  const call_number first = the_oracle->issue(node, stream_to(node));
  std::vector<call_number> calls{first};
  for (std::uint64_t i = 1; i < count; ++i) calls.push_back(the_oracle->issue(node, stream_to(node)));
  bool sent = false;
  try {
    offload::batch together(node);
    for (const call_number call : calls) {
      members.push_back({together.add(fn<&work>, call, std::int64_t{7}, std::int64_t{0}), call, result_of(call, 7),
                         false, false, false});
    }
    together.submit();
    sent = true;
  } catch (const node_failure& lost) {
    expect_lost(node, lost.what());
  } catch (const call_error& lost) {
    expect_lost(node, lost.what());
  }
  if (!sent && members.empty()) {
    for (const call_number call : calls) the_oracle->fail(call, call_outcome::not_run, "it was not added to its batch");
    return;
  }
  for (pending& one : members) pending_.push_back(std::move(one));
  for (std::size_t i = members.size(); i < calls.size(); ++i)
    the_oracle->fail(calls[i], call_outcome::not_run, "it was not added to its batch");
}

void actor::queue(random_source& random) {
  if (contexts_.empty() || (contexts_.size() < 4 && random.once_in(4))) {
    const node_t node = any_node(random);
    try {
      contexts_.push_back({offload::context(node), the_oracle->new_stream()});
    } catch (const node_failure& lost) {
      expect_lost(node, lost.what());
    } catch (const call_error& lost) {
      expect_lost(node, lost.what());
    }
    return;
  }
  const std::size_t at = random.below(contexts_.size());
  remote_queue& to = contexts_[at];
  const std::uint64_t count = 1 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const call_number call = the_oracle->issue(to.queue.node(), to.stream);
    const std::int64_t takes = some_time(random);
    attempt(call, false, [&] {
      pending_.push_back({offload::async(to.queue, fn<&work>, call, std::int64_t{3}, takes), call, result_of(call, 3),
                          false, false, false});
    });
  }
  if (!random.once_in(6)) return;
  const node_t node = to.queue.node();
  try {
    if (random.once_in(2))
      to.queue.drain();
    else
      to.queue.close();
    the_oracle->expect_all_ran(to.stream);
  } catch (const node_failure& lost) {
    expect_lost(node, lost.what());
  }
  if (!to.queue.valid() || faults_.may_be_lost.contains(node))
    contexts_.erase(contexts_.begin() + static_cast<std::ptrdiff_t>(at));
}

void actor::nested(random_source& random) {
  std::vector<node_t> route;
  std::vector<call_number> calls;
  const std::uint64_t hops = random.below(6);
  for (std::uint64_t i = 0; i < hops; ++i) {
    route.push_back(any_node(random));
    calls.push_back(the_oracle->issue(route.back()));
  }
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  const std::vector<char> load(random.once_in(3) ? random.below(12'000) : 8);
  attempt(call, true, [&] {
    pending_.push_back({offload::async(node, fn<&along>, call, route, calls, load), call,
                        static_cast<std::int64_t>(load.size() + hops), false, false, true});
  });
}

void actor::long_message(random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  std::vector<std::int32_t> values(random.below(1500));
  for (std::int32_t& one : values) one = static_cast<std::int32_t>(random.next());
  attempt(call, false, [&] {
    std::vector<std::int32_t> back = offload::sync(node, fn<&reversed>, call, values);
    std::ranges::reverse(back);
    the_oracle->settle(call, back == values ? 1 : 0, 1);
  });
}

void actor::then(random_source& random) {
  const node_t node = any_node(random);
  const call_number call = the_oracle->issue(node, stream_to(node));
  attempt(call, false, [&] {
    pending_.push_back({offload::async(node, fn<&work>, call, std::int64_t{5}, some_time(random))
                            .then([ran = false](std::int64_t value) mutable {
                              if (std::exchange(ran, true)) running->fail("a continuation runs twice");
                              return value + 1;
                            }),
                        call, result_of(call, 5) + 1, false, false, false});
  });
}

void actor::transfer(random_source& random) {
  constexpr std::size_t elements = 96;
  const auto lost = [&](const remote_memory& which, const char* why) {
    expect_lost(which.at.node(), why);
    std::erase_if(buffers_, [&](const remote_memory& one) { return one.at.node() == which.at.node(); });
  };
  if (buffers_.empty() || (buffers_.size() < 6 && random.once_in(3))) {
    const node_t node = any_node(random);
    try {
      buffers_.push_back({offload::allocate<std::int32_t>(node, elements), std::vector<std::int32_t>(elements, -1)});
      offload::put_sync(buffers_.back().model.data(), buffers_.back().at, elements);
    } catch (const node_failure& failure) {
      if (!buffers_.empty() && buffers_.back().at.node() == node) buffers_.pop_back();
      expect_lost(node, failure.what());
    } catch (const call_error& failure) {
      expect_lost(node, failure.what());
    }
    return;
  }
  remote_memory& one = buffers_[random.below(buffers_.size())];
  const std::size_t begin = random.below(elements);
  const std::size_t count = 1 + random.below(elements - begin);
  try {
    switch (random.below(5)) {
      case 0:
      case 1: {
        std::vector<std::int32_t> values(count);
        for (std::int32_t& value : values) value = static_cast<std::int32_t>(random.next());
        std::ranges::copy(values, one.model.begin() + static_cast<std::ptrdiff_t>(begin));
        offload::put(values.data(), one.at + begin, count).get();
        break;
      }
      case 2: {
        remote_memory& other = buffers_[random.below(buffers_.size())];
        if (&other == &one) break;
        try {
          offload::copy(one.at + begin, other.at + begin, count).get();
        } catch (const node_failure& failure) {
          if (!faults_.any) throw;  // else either of them may be lost, to the host or to the other
          const node_t from = one.at.node();
          const node_t to = other.at.node();
          std::erase_if(buffers_,
                        [&](const remote_memory& each) { return each.at.node() == from || each.at.node() == to; });
          return;
        }
        std::copy_n(one.model.begin() + static_cast<std::ptrdiff_t>(begin), count,
                    other.model.begin() + static_cast<std::ptrdiff_t>(begin));
        break;
      }
      default: {
        std::vector<std::int32_t> values(count);
        offload::get(one.at + begin, values.data(), count).get();
        if (!std::equal(values.begin(), values.end(), one.model.begin() + static_cast<std::ptrdiff_t>(begin)))
          running->fail("memory of node " + std::to_string(one.at.node()) + " holds other bytes than were put there");
        break;
      }
    }
    if (!random.once_in(8)) return;
    const std::size_t at = static_cast<std::size_t>(&one - buffers_.data());
    offload::free(one.at);
    buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(at));
  } catch (const node_failure& failure) {
    lost(one, failure.what());
  }
}

void actor::object(random_source& random) {
  if (objects_.empty() || (objects_.size() < 4 && random.once_in(4))) {
    const node_t node = any_node(random);
    try {
      objects_.push_back({offload::make<counter>(node, std::int64_t{10}), 10});
    } catch (const node_failure& lost) {
      expect_lost(node, lost.what());
    } catch (const call_error& lost) {
      expect_lost(node, lost.what());
    }
    return;
  }
  const std::size_t at = random.below(objects_.size());
  remote_counter& one = objects_[at];
  const call_number call = the_oracle->issue(one.at.node());
  bool lives = false;
  attempt(call, false, [&] {
    one.model += 2;
    the_oracle->settle(call, one.at.call<&counter::add>(call, std::int64_t{2}), one.model);
    lives = true;
  });
  if (!lives || random.once_in(6)) objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(at));
}

void actor::member(step kind, random_source& random) {
  constexpr std::size_t max_nodes = 9;
  if (number_ != 0 || over_ == medium::loopback || !random.once_in(3)) return;
  if (kind == step::add_node) {
    faults_.any_added = true;
    if (nodes_.size() < max_nodes) nodes_.push_back(offload::add_node(std::string(name_of(over_)) + ":1"));
    return;
  }
  if (nodes_.size() < 3) return;
  const node_t gone = any_target(random);
  std::erase(nodes_, gone);
  faults_.may_be_lost.insert(gone);
  faults_.any = true;
  offload::remove_node(gone);
}

void actor::fault(step kind, random_source& random) {
  if (number_ != 0 || over_ == medium::loopback || !random.once_in(kind == step::stop ? 2 : 8)) return;
  const node_t node = any_target(random);
  switch (kind) {
    case step::stop: running->stop(node, static_cast<std::int64_t>(random.below(5'000'000))); return;
    case step::cut: {
      const node_t other = any_node(random);
      if (other == node) return;
      faults_.any = true;
      if (other == 0) {
        faults_.may_be_lost.insert(node);
        if (nodes_.size() > 2) std::erase(nodes_, node);
      }
      world_.net().cut(node, other);
      return;
    }
    case step::kill:
      faults_.any = true;
      faults_.may_be_lost.insert(node);
      running->kill_after(node, random.below(400));
      if (nodes_.size() > 2 && random.once_in(2)) std::erase(nodes_, node);
      return;
    default:
      if (random.once_in(8)) running->kill_after(0, random.below(2000));
      return;
  }
}

// ---- the host

/// Late replies to calls that were given up, and what targets told each other, may still be on the way.
void expect_nothing_left(node_t node) {
  constexpr std::int64_t timeout_ns = 3'000'000'000;
  const std::int64_t until = base::now_ns() + timeout_ns;
  for (;;) {
    const std::string left = node == offload::this_node() ? left_over() : offload::sync(node, fn<&left_over>);
    if (left.empty()) return;
    if (base::now_ns() > until) running->fail("node " + std::to_string(node) + " has left over: " + left);
    base::sleep_ns(1'000'000);
    detail::current().poll_once();
  }
}

void host_main(const plan& what, int nodes, int threads, world& in) {
  const medium over = what.over == medium::as_the_seed_says ? medium_of(what.seed) : what.over;
  runtime job(runtime_options{.nodes = std::string(name_of(over)) + ":" + std::to_string(nodes - 1)});
  std::vector<node_t> known;
  for (node_t node = 0; node < nodes; ++node) known.push_back(node);
  faults made;
  const auto act = [&](int number) {
    const auto here = job.use();
    actor(what, number, what.steps / threads, over, known, made, in).run();
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back([&act, i] { act(i); });
  act(0);
  for (std::thread& one : others) one.join();
  const auto here = job.use();
  for (const node_t node : known) {
    if (!made.may_be_lost.contains(node)) expect_nothing_left(node);
  }
}

}  // namespace

std::string_view name_of(step kind) noexcept {
  static constexpr std::array<std::string_view, steps_there_are> names{
      "sync",        "async",    "ping", "batch",   "context",  "nested", "long-message",
      "throwing",    "deadline", "then", "abandon", "transfer", "object", "add-node",
      "remove-node", "stop",     "cut",  "kill",    "kill-host"};
  return names[static_cast<unsigned>(kind)];
}

std::string_view name_of(medium over) noexcept {
  static constexpr std::array<std::string_view, media_there_are> names{"any", "sim", "islands", "loopback"};
  return names[static_cast<unsigned>(over)];
}

medium medium_of(std::uint64_t seed) noexcept {
  return std::array{medium::sim, medium::sim, medium::islands, medium::loopback}[random_source(seed + 77).below(4)];
}

int nodes_of(std::uint64_t seed) noexcept { return static_cast<int>(2 + random_source(~seed).below(7)); }

outcome simulate(const plan& what) {
  random_source random(what.seed);
  schedule how;
  how.seed = random.next() ^ what.schedule * 0x9e3779b97f4a7c15U;
  how.mean_run = std::array<std::uint64_t, 4>{12, 60, 250, 1000}[random.below(4)];
  how.mean_tick_ns = std::array<std::int64_t, 3>{4'000, 15'000, 50'000}[random.below(3)];
  how.by_priority = random.once_in(3);
  how.buffers_stores = !random.once_in(4);
  network_conditions conditions;
  conditions.mean_delay_ns = std::array<std::int64_t, 4>{0, 1'000, 20'000, 200'000}[random.below(4)];
  conditions.frames = std::array<std::size_t, 3>{1, 4, 64}[random.below(3)];
  const int nodes = what.nodes != 0 ? what.nodes : nodes_of(what.seed);
  const auto threads = static_cast<int>(1 + random.below(3));

  oracle judge;
  the_oracle = &judge;
  scheduler control(how, [&judge](const std::string&) { judge.print_unanswered(); });
  control.begin();
  outcome result;
  {
    world job(conditions);
    job.run_host([&] { host_main(what, nodes, threads, job); });
    result = {control.hash(), control.hand_overs(), judge.issued(), judge.executed(), judge.failed()};
    control.end();
  }
  return result;
}

}  // namespace ham::sim
