// One run of the soak test over the nodes of HAM_NODES; soak.py starts it, judges what it prints, and checks what is
// left behind.
//   ham_soak --seconds=90 --threads=3 --spare=shm:1 --spares=2 --seed=1
//   ham_soak --count=1000000000
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "soak/flood.hpp"
#include "soak/node_events.hpp"
#include "soak/plants.hpp"
#include "soak/samples.hpp"
#include "soak/watchdog.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;

constexpr double warm_up = 0.2;  // of the time; as in judge.py

struct options {
  double seconds = 10;
  std::size_t threads = 3;
  std::string spare;       ///< how a target is added; empty: none is replaced
  std::size_t spares = 0;  ///< of the targets, the last ones, so many may be replaced
  double pause_between_kills = 0.5;
  std::uint64_t seed = 1;
  std::uint64_t count = 0;  ///< calls of the fast run; 0: the long one
  std::uint64_t hang_seconds = 60;
  std::size_t leak = 0;  ///< on purpose, bytes of each verb
  std::string verbs;     ///< some of them; empty: all
};

options read(int argc, char** argv) {
  options result;
  std::map<std::string, std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) {
      std::fprintf(stderr, "ham_soak: cannot read the option %s\n", argv[i]);
      std::exit(2);
    }
    words[word.substr(2, equals - 2)] = word.substr(equals + 1);
  }
  const auto number = [&](const char* name, auto& into) {
    if (const auto found = words.find(name); found != words.end()) {
      into = static_cast<std::remove_reference_t<decltype(into)>>(std::strtod(found->second.c_str(), nullptr));
      words.erase(found);
    }
  };
  number("seconds", result.seconds);
  number("threads", result.threads);
  number("spares", result.spares);
  number("kill-pause", result.pause_between_kills);
  number("seed", result.seed);
  number("count", result.count);
  number("leak", result.leak);
  number("hang", result.hang_seconds);
  result.spare = words["spare"];
  words.erase("spare");
  result.verbs = words["verbs"];
  words.erase("verbs");
  for (const auto& [name, text] : words) {
    std::fprintf(stderr, "ham_soak: there is no option --%s\n", name.c_str());
    std::exit(2);
  }
  result.threads = std::clamp<std::size_t>(result.threads, 1, max_workers);
  return result;
}

class run {
 public:
  explicit run(const options& how)
      : how_(how), seats_(how.spare, how.spare.empty() ? 0 : how.spares), random_(mixed(how.seed)) {
    constexpr double seconds_between_hangs = 30;
    if (!how.spare.empty()) {
      supervised_ = std::make_unique<supervised_target>(how.spare);
      hanging_ = std::make_unique<supervised_target>(how.spare, hang_limit);
      hanging_->set_pace(seconds_between_hangs);
    }
    for (std::size_t i = 0; i < how.threads; ++i)
      workers_.push_back(
          std::make_unique<worker>(i, mixed(how.seed * 1000 + i), seats_, supervised_.get(), hanging_.get()));
    for (const auto& one : workers_)
      if (!one->choose(how.verbs)) throw std::runtime_error("--verbs has no verb, or an unknown one: " + how.verbs);
  }

  void go() {
    const watchdog_scope scope(*this);
    const double round = std::clamp(how_.seconds / 20, 1.5, 60.0);
    use_memory();
    leaked_bytes.store(how_.leak);
    start_ = base::now_ns();
    while (!over.load() && seconds() < how_.seconds) {
      load(std::min(round, how_.seconds - seconds()));
      if (!over.load()) settle();
      if (!over.load()) take_sample();
      if (planted(plant::early_end)) ::_exit(0);
      if (planted(plant::crash)) std::abort();
    }
    for (const auto& one : workers_) one->check_all();
    if (planted(plant::left_behind)) leave_behind();
    emit("end", "{" + totals() + ",\"problems\":" + std::to_string(problems()) + "}");
  }

 private:
  struct watchdog_scope {
    explicit watchdog_scope(run& of)
        : of_(of), dog(of.workers_, of.seats_, std::chrono::seconds(of.how_.hang_seconds)) {
      of.dog_ = &dog;
    }
    ~watchdog_scope() { of_.dog_ = nullptr; }
    run& of_;
    watchdog dog;
  };

  [[nodiscard]] double seconds() const { return static_cast<double>(base::now_ns() - start_) * 1e-9; }

  /// What is freed on a node stays there for its next buffers. Here it gets more than all workers hold at once, which
  /// they do so seldom that it would look like growth.
  void use_memory() const {
    constexpr std::size_t max_of_a_verb = std::size_t{1} << 20U;
    const bytes data(2 * how_.threads * max_of_a_verb);
    const offload::buffer<std::uint8_t> there(seats_.at(0), data.size());
    offload::put(data, there).get();
    const offload::buffer_ptr<const std::uint8_t> at(there.ptr());
    static_cast<void>(offload::sync(seats_.at(0), fn<&checksum_of>, stamp{}, at, data.size()));
  }

  /// All workers, and the end of targets, for a while.
  void load(double time_s) {
    std::atomic<bool> pause{false};
    std::vector<std::thread> threads;
    for (const auto& one : workers_) threads.emplace_back([&, at = one.get()] { at->run(pause); });
    threads.emplace_back([&] { replace_targets(pause); });
    const std::int64_t until = base::now_ns() + static_cast<std::int64_t>(time_s * 1e9);
    while (!over.load() && base::now_ns() < until) std::this_thread::sleep_for(10ms);
    pause.store(true);
    for (std::thread& one : threads) one.join();
  }

  /// At first ten times as often: nodes keep something of the last ones that have gone, which is full then.
  void replace_targets(const std::atomic<bool>& pause) {
    const auto between = std::chrono::duration<double>(
        seconds() < warm_up * how_.seconds ? how_.pause_between_kills / 10 : how_.pause_between_kills);
    if (supervised_ != nullptr) supervised_->set_pace(between.count());
    for (auto next = std::chrono::steady_clock::now() + between; !pause.load() && !over.load();) {
      std::this_thread::sleep_for(5ms);
      if (std::chrono::steady_clock::now() < next) continue;
      dog_->replacing_since_ns.store(base::now_ns());
      try {
        if (!seats_.replace_one(random_)) return;
      } catch (const std::exception& why) {
        report(std::string("a target cannot be replaced: ") + why.what());
      }
      dog_->replacing_since_ns.store(0);
      next = std::chrono::steady_clock::now() + between;
    }
    dog_->replacing_since_ns.store(0);
  }

  /// Nobody calls; the memory of long messages goes back after a second, on nodes that wait: first on this one, then on
  /// the others.
  void settle() {
    dog_->replacing_since_ns.store(base::now_ns());
    try {
      offload::sync(seats_.at(0), fn<&nap>, std::uint64_t{1200});
      std::this_thread::sleep_for(1200ms);
      std::vector<node_t> all{0};
      for (std::size_t seat = 0; seat < seats_.size(); ++seat) all.push_back(seats_.at(seat));
      for (const auto* one : {supervised_.get(), hanging_.get()})
        if (one != nullptr) all.push_back(one->number());
      for (const node_t node : all) {
        offload::sync(node, fn<&trim>);
        if (const std::uint64_t never = offload::sync(node, fn<&stops_that_never_came>); never != 0)
          report("node " + std::to_string(node) + ": " + std::to_string(never) + " calls were never told to stop");
      }
      events_.check(seats_);
    } catch (const std::exception& why) {
      report(std::string("a target that was left alone does not answer: ") + why.what());
    }
    dog_->replacing_since_ns.store(0);
  }

  [[nodiscard]] std::string totals() const {
    std::uint64_t calls = 0;
    for (const auto& one : workers_) calls += one->calls();
    std::string text =
        "\"calls\":" + std::to_string(calls) + ",\"seconds\":" + std::to_string(seconds()) +
        ",\"kills\":" + std::to_string(seats_.kills()) + ",\"removals\":" + std::to_string(seats_.removals()) +
        ",\"spawned\":" + std::to_string(seats_.spawned()) +
        ",\"restarts\":" + std::to_string(supervised_ == nullptr ? 0 : supervised_->deaths() + hanging_->deaths()) +
        ",\"verbs\":[";
    for (std::size_t i = 0; i < workers_.size(); ++i)
      text += (i == 0 ? "{" : ",{") + workers_[i]->verbs_as_json() + "}";
    return text + "]";
  }

  void take_sample() {
    std::string text = "{" + totals() + ",\"processes\":{";
    const auto add = [&](const std::string& name, std::int64_t pid, std::uint64_t heap_kb = 0) {
      auto found = sample_of(pid);
      if (!found) return;
      found->heap_kb = heap_kb;
      if (text.back() != '{') text += ",";
      text += soak::quoted(name) + ":" + to_json(*found);
    };
    add("host", ::getpid(), heap_in_use_kb());
    if (seats_.at(0) == 1) add("target 1", seats_.pid(0), offload::sync(1, fn<&heap_in_use_kb>));
    if (const char* const server = std::getenv("HAM_SOAK_SERVER"))
      add("waiting program", std::strtol(server, nullptr, 10));
    emit("sample", text + "}}");
  }

  const options how_;
  seats seats_;
  const node_events events_;
  std::unique_ptr<supervised_target> supervised_, hanging_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<worker>> workers_;
  watchdog* dog_ = nullptr;
  std::int64_t start_ = 0;
};

}  // namespace
}  // namespace soak

int main(int argc, char** argv) {
  soak::keep_no_memory_apart();
  static_cast<void>(soak::ledger());  // both also in targets
  try {
    ham::runtime job(argc, argv);  // targets do not come back
    const soak::options how = soak::read(argc, argv);
    if (const std::string wrong = soak::problem_with_plant(); !wrong.empty()) {
      std::fprintf(stderr, "ham_soak: %s\n", wrong.c_str());
      return 2;
    }
    if (how.count != 0) return soak::flood(how.count) && soak::problems() == 0 ? 0 : 1;
    soak::run(how).go();
  } catch (const std::exception& why) {
    soak::report(why.what());
  }
  return soak::problems() == 0 ? 0 : 1;
}
