// Options, output and flow of a peer's program. Without options it measures everything but the death of the server.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "client.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "server_process.hpp"

namespace ham::inline v1::peers {

struct options {
  int repetitions = 1;  ///< of each measurement; the median is printed
  bool json = false;
  bool idle = true;    ///< measure the idle server, which takes a second
  bool empty = false;  ///< measure empty calls only
  bool check = false;  ///< no times, but a round of calls whose answers are checked
  bool death = false;  ///< only: kill the server in mid-call
  int client_core = 0;
  int server_core = 0;
};

inline constexpr const char* usage =
    "options: --repetitions N | --json | --no-idle | --cores CLIENT,SERVER\n"
    "         --empty  empty calls only\n"
    "         --check  one round of calls with their answers checked, no times\n"
    "         --death  only what happens when the server is killed in mid-call\n";

/// Ends the program if the command line is wrong.
inline options parse(int argc, char** argv) {
  options given;
  const std::vector<int> cores = usable_cores();
  if (!cores.empty()) {
    given.client_core = cores.front();
    given.server_core = cores.back();
    if (cores.size() > 1) given.server_core = cores[1];
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view one = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (one == "--json") {
      given.json = true;
    } else if (one == "--no-idle") {
      given.idle = false;
    } else if (one == "--empty") {
      given.empty = true;
    } else if (one == "--check") {
      given.check = true;
    } else if (one == "--death") {
      given.death = true;
    } else if (one == "--repetitions" && value != nullptr && std::atoi(value) > 0) {
      given.repetitions = std::atoi(argv[++i]);
    } else if (one == "--cores" && value != nullptr &&
               std::sscanf(value, "%d,%d", &given.client_core, &given.server_core) == 2) {
      ++i;
    } else {
      std::fprintf(stderr, "%s: unknown option or value: %s\n%s", argv[0], argv[i], usage);
      std::exit(2);
    }
  }
  return given;
}

/// Text between quotation marks.
inline std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

/// A line of "key: value", or an object of JSON.
class output {
 public:
  explicit output(bool json) : json_(json) {}

  void add(const char* key, const std::string& text) { append(key, json_ ? in_quotes(text) : text); }
  void add(const char* key, double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", number);
    append(key, text);
  }
  void print() const {
    std::printf(json_ ? "{%s}\n" : "%s\n", text_.c_str());
    std::fflush(stdout);
  }

 private:
  void append(const char* key, const std::string& value) {
    if (!text_.empty()) text_ += ", ";
    text_ += json_ ? in_quotes(key) + ": " + value : std::string(key) + ": " + value;
  }

  bool json_;
  std::string text_;
};

inline output begin_output(const description& what, const options& given) {
  output result(given.json);
  result.add("peer", what.name);
  result.add("version", what.version);
  result.add("how", what.how);
  return result;
}

/// Time for one kind of call, in one repetition.
inline constexpr std::int64_t budget_ns = 60'000'000;

inline void measure(client& peer, const options& given, output& result) {
  if (given.empty) {
    result.add("empty_us", time_calls(peer, {}, budget_ns) * 1e-3);
    return;
  }
  const std::vector<std::byte> small = make_argument(1024);
  const std::vector<std::byte> large = make_argument(max_bytes);
  std::vector<double> empty, kib, rate, transfer;
  for (int i = 0; i < given.repetitions; ++i) {
    empty.push_back(time_calls(peer, {}, budget_ns) * 1e-3);
    kib.push_back(time_calls(peer, small, budget_ns) * 1e-3);
    rate.push_back(rate_of_calls(peer, 1000, budget_ns) * 1e-6);
    transfer.push_back(static_cast<double>(max_bytes) * 1e-9 / time_transfer(peer, large, budget_ns));
  }
  result.add("empty_us", median(empty));
  result.add("kib_us", median(kib));
  result.add("rate_million_per_s", median(rate));
  result.add("transfer_gb_per_s", median(transfer));
  if (given.idle && peer.has_server()) result.add("idle_percent", idle_percent(peer));
}

/// How long a caller that is told nothing is waited for.
inline constexpr std::chrono::milliseconds hang_limit{3000};

/// Kills the server in mid-call and prints what the caller learns. Does not return: what hangs cannot be ended in an
/// orderly way. "begun" is printed before, because some launchers end this process too.
[[noreturn]] inline void measure_death(client& peer, const options& given, output result) {
  const auto server = static_cast<pid_t>(peer.call(op::process, {}));
  output begun(given.json);
  begun.add("death", "begun");
  begun.print();

  std::atomic<std::int64_t> killed{0};
  std::mutex printing;
  std::thread killer([&] {
    ::usleep(100'000);
    killed = now_ns();
    ::kill(server, SIGKILL);
    ::waitpid(server, nullptr, 0);  // if it is a child: some look for its process, which must not stay as a zombie
    std::this_thread::sleep_for(hang_limit);
    const std::lock_guard lock(printing);
    result.add("death", "hangs");
    result.print();
    ::_exit(0);
  });
  std::string error;
  try {
    error = "answered: " + std::to_string(peer.call(op::hang, {}));
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  const std::int64_t end = now_ns();
  const std::lock_guard lock(printing);
  const bool in_time = killed != 0;  // else something failed before the server was killed
  result.add("death", in_time ? "error" : "failed");
  result.add("error", error);
  if (in_time) result.add("error_ms", static_cast<double>(end - killed) * 1e-6);
  result.print();
  ::_exit(in_time ? 0 : 1);
}

/// The whole client, once it is connected.
inline int run_client(client& peer, const description& what, const options& given) {
  output result = begin_output(what, given);
  if (given.death && peer.has_server()) measure_death(peer, given, std::move(result));
  if (given.death) {
    result.add("death", "no server");
  } else if (given.check) {
    check(peer);
    result.add("check", "ok");
  } else {
    measure(peer, given, result);
  }
  result.print();
  return 0;
}

/// main of a peer whose server is a forked child. `serve` announces itself and then answers until it is killed;
/// `connect` is called after that, with the description to complete by what is only known then.
inline int run_forked(int argc, char** argv, description what,
                      const std::function<void(const server_process::announce&)>& serve,
                      const std::function<std::unique_ptr<client>(description&)>& connect) {
  const options given = parse(argc, argv);
  try {
    ::alarm(120);  // whatever hangs: the server follows
    const server_process server(given.server_core, serve);
    pin_to(given.client_core);
    const std::unique_ptr<client> peer = connect(what);
    return run_client(*peer, what, given);
  } catch (const std::exception& failure) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", what.name.c_str(), failure.what());
    return 1;
  }
}

}  // namespace ham::peers
