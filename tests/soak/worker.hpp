// A host thread that calls: what it does now, for the watchdog, and how it judges what comes back.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload.hpp"
#include "soak/functions.hpp"
#include "soak/ledger.hpp"
#include "soak/problems.hpp"
#include "soak/seats.hpp"
#include "soak/supervised.hpp"

namespace soak {

/// On purpose, by each verb of the host, to see that a leak is found.
extern std::atomic<std::size_t> leaked_bytes;

class worker {
 public:
  /// `supervised`, and `hanging`, which may not take long for a call: nullptr if there is none.
  worker(std::size_t number, std::uint64_t seed, seats& of, supervised_target* supervised, supervised_target* hanging)
      : number_(number), ledger_(number), random_(seed), seats_(of), supervised_(supervised), hanging_(hanging) {}

  /// Of all verbs, those with one of these names, divided by '+'. Empty: all. False: there is none of them.
  [[nodiscard]] bool choose(const std::string& names);
  /// Verbs until the run is over or it is asked to pause.
  void run(const std::atomic<bool>& pause);
  /// At the end.
  void check_all() { ledger_.check_all(); }

  // ---- any thread
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_.load(std::memory_order_relaxed); }
  /// nullptr: it does nothing.
  [[nodiscard]] const char* verb() const noexcept { return verb_.load(); }
  [[nodiscard]] node_t node() const noexcept { return node_.load(); }
  [[nodiscard]] std::int64_t since_ns() const noexcept { return since_ns_.load(); }
  /// How often each verb was completed, as a JSON object's members.
  [[nodiscard]] std::string verbs_as_json() const;

  // ---- what verbs use
  [[nodiscard]] std::uint64_t random() { return random_(); }
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  [[nodiscard]] stamp claim(runs at_first = runs::no_more_than_once) {
    calls_.fetch_add(1, std::memory_order_relaxed);
    return ledger_.claim(verb_.load(std::memory_order_relaxed), at_first);
  }
  /// The call was not made.
  void uncount() { calls_.fetch_sub(1, std::memory_order_relaxed); }
  void count_calls(std::uint64_t more) { calls_.fetch_add(more, std::memory_order_relaxed); }
  void expect(stamp call, runs how_often);
  [[nodiscard]] node_t any_node() {
    node_.store(seats_.at(below(seats_.size())));
    return node_.load();
  }
  [[nodiscard]] bool gone(node_t node) const { return seats_.given_up(node); }
  [[nodiscard]] std::size_t nodes() const noexcept { return seats_.size(); }
  [[nodiscard]] node_t node_at(std::size_t seat) const noexcept { return seats_.at(seat); }
  /// Of all seats.
  [[nodiscard]] std::vector<node_t> all_nodes() const {
    std::vector<node_t> all;
    for (std::size_t seat = 0; seat < seats_.size(); ++seat) all.push_back(seats_.at(seat));
    return all;
  }
  [[nodiscard]] supervised_target* supervised() const noexcept { return supervised_; }
  [[nodiscard]] supervised_target* hanging() const noexcept { return hanging_; }
  /// One that may be replaced, and is a process that this one has started; -1: there is none.
  [[nodiscard]] node_t any_started_here() {
    const std::vector<std::size_t> seats = seats_.started_here();
    node_.store(seats.empty() ? -1 : seats_.at(seats[below(seats.size())]));
    return node_.load();
  }
  void on_node(node_t node) noexcept { node_.store(node); }
  /// The result of the call `made` to `node` has to be `wanted`.
  template <class Value>
  void take(offload::future<Value> result, stamp made, node_t node, const Value& wanted) {
    take_by([&] { return result.get(); }, made, node, wanted);
  }
  /// The same of what get() gives, or throws.
  template <class Value, class Get>
  void take_by(Get get, stamp made, node_t node, const Value& wanted) {
    try {
      const Value value = get();
      expect(made, runs::once);
      if (!(value == wanted)) wrong(node, "the result is wrong");
    } catch (const node_failure& why) {
      lost(made, node, why);
    }
  }
  /// A call failed with its node.
  void lost(stamp made, node_t node, const node_failure& why);
  /// Only if the node was left alone.
  void wrong(node_t node, const std::string& what);

 private:
  struct verb_entry {
    const char* name;
    void (*run)(worker& self);
  };
  static const verb_entry* verbs(std::size_t& count);
  void do_one();

  static constexpr std::size_t max_verbs = 64;
  const std::size_t number_;
  ledger_part ledger_;
  std::mt19937_64 random_;
  seats& seats_;
  supervised_target* const supervised_;
  supervised_target* const hanging_;
  std::vector<std::size_t> chosen_;  ///< empty: all
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<const char*> verb_{nullptr};
  std::atomic<node_t> node_{-1};
  std::atomic<std::int64_t> since_ns_{0};
  std::atomic<std::uint64_t> done_[max_verbs]{};
};

}  // namespace soak
