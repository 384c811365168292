// Network namespaces, a switch between them, and a process that is host in one and has its target in another.
#include "cut_link.hpp"

#include "affinity.hpp"
#include "process_state.hpp"
#include "session.hpp"
#include "tcp_job.hpp"
#include "timing.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace ham::inline v1::bench {

namespace {

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

std::string inside(const std::string& network) { return "ip netns exec " + network + " "; }

/// Machines 1 and 2 at a switch in a network of its own.
class two_machines {
 public:
  explicit two_machines(std::string prefix) : prefix_(std::move(prefix)) {
    const std::string hub = prefix_ + "0";
    usable_ = run("ip netns add " + hub) && run(inside(hub) + "ip link add switch type bridge") &&
              run(inside(hub) + "ip link set switch up") && attach("1") && attach("2");
  }
  ~two_machines() {
    for (const char* const one : {"1", "2", "0"}) run("ip netns del " + prefix_ + one);
  }
  two_machines(const two_machines&) = delete;
  two_machines& operator=(const two_machines&) = delete;

  [[nodiscard]] bool usable() const { return usable_; }

 private:
  bool attach(const std::string& number) const {
    const std::string machine = prefix_ + number;
    const std::string hub = inside(prefix_ + "0");
    return run("ip netns add " + machine) &&
           run(hub + "ip link add port" + number + " type veth peer name eth0 netns " + machine) &&
           run(hub + "ip link set port" + number + " master switch up") &&
           run(inside(machine) + "ip address add 10.78.0." + number + "/24 dev eth0") &&
           run(inside(machine) + "ip link set eth0 up") && run(inside(machine) + "ip link set lo up");
  }

  std::string prefix_;
  bool usable_ = false;
};

void enter(const std::string& network) {
  const int file = ::open(("/run/netns/" + network).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::setns(file, CLONE_NEWNET) != 0) throw std::runtime_error("cannot enter a network namespace");
  ::close(file);
}

void plugged(const std::string& prefix, bool in) {
  if (!run(inside(prefix + "0") + "ip link set port2 " + (in ? "master switch" : "nomaster")))
    throw std::runtime_error("cannot move a cable");
}

void sleep_behind_the_cut() { ::sleep(60); }

double since_ms(std::int64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) * 1e-6; }

double quiet_ms(const tcp_server& server, const std::string& prefix) {
  const std::unique_ptr<runtime> job = server.host();
  auto waiting = offload::async(1, fn<&sleep_behind_the_cut>);
  ::usleep(1'500'000);
  plugged(prefix, false);
  const std::int64_t begin = now_ns();
  try {
    waiting.get();
  } catch (const node_failure&) {
    return since_ms(begin);
  }
  throw std::runtime_error("a call came through a cable that was pulled");
}

double busy_ms(const tcp_server& server, const std::string& prefix) {
  const std::unique_ptr<runtime> job = server.host();
  for (int i = 0; i < 10'000; ++i) offload::sync(1, fn<&nothing>);
  plugged(prefix, false);
  const std::int64_t begin = now_ns();
  try {
    for (;;) offload::sync(1, fn<&nothing>);
  } catch (const node_failure&) {
    return since_ms(begin);
  }
}

}  // namespace

std::optional<cut_link_times> measure_cut_link() {
  const std::string prefix = "ham-bench-" + std::to_string(::getpid()) + "-";
  const two_machines machines(prefix);
  int ends[2];
  if (!machines.usable() || ::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t pid = spawn_self({std::string(cut_link_argument), prefix}, ends[1]);
  ::close(ends[1]);
  cut_link_times found;
  const bool told = ::read(ends[0], &found, sizeof found) == static_cast<ssize_t>(sizeof found);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!told) return std::nullopt;
  return found;
}

int run_cut_link(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  const std::string prefix = argv[2];
  cut_link_times found;
  try {
    enter(prefix + "2");
    // Two jobs at once: the target of the first may notice the cut after its host.
    const tcp_server server(true, allowed_cores(), "10.78.0.2:0", 2);
    enter(prefix + "1");
    found.quiet_ms = quiet_ms(server, prefix);
    plugged(prefix, true);
    found.busy_ms = busy_ms(server, prefix);
  } catch (const std::exception& problem) {  // the server and its key go all the same
    std::fprintf(stderr, "ham-bench: no cable was pulled: %s\n", problem.what());
    return EXIT_FAILURE;
  }
  return ::write(3, &found, sizeof found) == static_cast<ssize_t>(sizeof found) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace ham::bench
