// What the checks look at.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "checks.hpp"

namespace ham::inline v1::info {

namespace {

/// A file of this process's cgroup v2; empty: there is none.
std::string cgroup(const char* name) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    std::string text = first_line("/sys/fs/cgroup" + line.substr(3) + "/" + name);
    return text.empty() ? first_line(std::string("/sys/fs/cgroup/") + name) : text;
  }
  return {};
}

std::optional<std::uint64_t> limit_of(decltype(RLIMIT_NOFILE) which) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

check_result check_cores() {
  const std::size_t usable = usable_cores().size();
  check_result result{"cores", verdict::good, std::to_string(usable) + " usable", {}};
  if (usable >= 2) return result;
  result.how = verdict::warning;
  result.advice = "host and targets share a core: a call costs two switches in place of a fraction of a microsecond";
  return result;
}

check_result check_clock() {
  constexpr int readings = 2000;
  timespec at{};
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < readings; ++i) clock_gettime(CLOCK_MONOTONIC, &at);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const long cost = ((end.tv_sec - begin.tv_sec) * 1'000'000'000L + end.tv_nsec - begin.tv_nsec) / readings;
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  check_result result{
      "clock", verdict::good, (source.empty() ? "" : source + ", ") + std::to_string(cost) + " ns a reading", {}};
  if (cost <= 300) return result;
  result.how = verdict::warning;
  result.advice = "the clock is read by a system call: deadlines and waits cost more; see the kernel's clocksource";
  return result;
}

class closing_fd {
 public:
  explicit closing_fd(int fd) : fd_(fd) {}
  ~closing_fd() {
    if (fd_ >= 0) close(fd_);
  }
  closing_fd(const closing_fd&) = delete;
  closing_fd& operator=(const closing_fd&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Empty: a connection to this machine's own address carries a byte.
std::string trouble_on_loopback() {
  const closing_fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const closing_fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.get() < 0 || client.get() < 0) return std::string("no socket: ") + std::strerror(errno);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  socklen_t size = sizeof at;
  if (bind(listener.get(), address, size) != 0 || listen(listener.get(), 1) != 0 ||
      getsockname(listener.get(), address, &size) != 0)
    return std::string("cannot listen at 127.0.0.1: ") + std::strerror(errno);
  if (connect(client.get(), address, size) != 0 && errno != EINPROGRESS)
    return std::string("cannot connect to 127.0.0.1: ") + std::strerror(errno);
  pollfd waiting{listener.get(), POLLIN, 0};
  if (poll(&waiting, 1, 2000) != 1) return "a connection to 127.0.0.1 does not arrive within 2 s";
  const closing_fd accepted(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  char byte = 'x';
  if (accepted.get() < 0 || send(accepted.get(), &byte, 1, MSG_NOSIGNAL) != 1)
    return std::string("a connection to 127.0.0.1 carries nothing: ") + std::strerror(errno);
  waiting = {client.get(), POLLIN, 0};
  if (poll(&waiting, 1, 2000) != 1 || recv(client.get(), &byte, 1, 0) != 1) return "a byte does not arrive within 2 s";
  return {};
}

check_result check_loopback() {
  const std::string trouble = trouble_on_loopback();
  if (trouble.empty()) return {"network on loopback", verdict::good, "carries data", {}};
  return {"network on loopback", verdict::warning, trouble,
          "tcp targets of this machine cannot be reached: look at the firewall, and whether the interface lo is up"};
}

/// What a transport cannot do here is a problem only for those that are always there.
check_result check_transport(const transport_state& one) {
  const bool basic = one.name == "shm" || one.name == "loopback";
  check_result result{"transport " + one.name, verdict::good, one.available ? "works" : "not available", {}};
  if (one.available) return result;
  result.how = basic ? verdict::problem : verdict::good;
  if (basic)
    result.advice = one.reason;
  else
    result.found += ": " + one.reason;
  return result;
}

check_result check_nodes() {
  const node_list nodes = start_nodes();
  check_result result{"job with " + (nodes.setting.empty() ? "the default nodes" : "HAM_NODES=" + nodes.setting),
                      verdict::good,
                      std::to_string(nodes.nodes.size()) + " nodes",
                      {}};
  if (nodes.problem.empty()) return result;
  result.how = verdict::problem;
  result.found = "does not start";
  result.advice = nodes.problem;
  return result;
}

std::string version_of_launcher() {
  std::FILE* const output = popen("mpirun --version 2>/dev/null </dev/null", "re");
  if (output == nullptr) return {};
  std::string text;
  for (int one = std::fgetc(output); one != EOF; one = std::fgetc(output)) text.push_back(static_cast<char>(one));
  return pclose(output) == 0 ? text : std::string();
}

void check_key(std::vector<check_result>& all) {
  const char* const file = std::getenv("HAM_KEY");
  if (file == nullptr || *file == '\0' || std::strncmp(file, "fd:", 3) == 0) return;
  struct stat about {};
  if (stat(file, &about) == 0)
    all.push_back(judge_key_mode(file, about.st_mode));
  else
    all.push_back({std::string("key ") + file, verdict::problem, std::strerror(errno),
                   "HAM_KEY names it; make one with --ham-make-key=FILE"});
}

}  // namespace

std::vector<check_result> check_machine() {
  std::vector<check_result> all = judge_services(kernel_services());
  all.push_back(check_cores());
  all.push_back(check_clock());
  all.push_back(judge_cpu_quota(cgroup("cpu.max"), usable_cores().size()));
  all.push_back(judge_memory_limit(cgroup("memory.max"), cgroup("memory.current")));
  all.push_back(
      judge_limit("open files", limit_of(RLIMIT_NOFILE), 64, 1024, "each connected node takes some: ulimit -n 4096"));
  all.push_back(judge_limit("processes and threads", limit_of(RLIMIT_NPROC), 32, 512, "ulimit -u 4096"));
  all.push_back(judge_limit(
      "address space in KiB",
      [] {
        const auto bytes = limit_of(RLIMIT_AS);
        return bytes ? std::optional(*bytes / 1024) : bytes;
      }(),
      std::uint64_t{1} << 20, std::uint64_t{64} << 20,
      "memory of targets is mapped by their peers: ulimit -v unlimited"));
  const std::string maps = first_line("/proc/sys/vm/max_map_count");
  all.push_back(judge_limit("memory mappings",
                            maps.empty() ? std::nullopt : std::optional(std::strtoull(maps.c_str(), nullptr, 10)), 4096,
                            32768, "sysctl vm.max_map_count=65530"));
  all.push_back(check_loopback());
  const std::vector<transport_state> transports = try_transports();
  for (const transport_state& one : transports) all.push_back(check_transport(one));
  all.push_back(judge_launcher(version_of_launcher(), transports));
  check_key(all);
  all.push_back(check_nodes());
  return all;
}

}  // namespace ham::info
