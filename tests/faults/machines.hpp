// Several machines on one: network namespaces, joined by a switch, whose cables can be pulled. Needs root and iproute2.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/unique_fd.hpp"

namespace ham::inline v1::test {

/// From now on the calling thread, and what it starts, is in that network.
inline void enter_network(const std::string& file) {
  const base::unique_fd network(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!network || ::setns(network.get(), CLONE_NEWNET) != 0) throw std::runtime_error("cannot enter " + file);
}

class machines {
 public:
  explicit machines(int count) : count_(count) {
    usable_ = run("ip netns add " + hub()) && run(in(hub()) + "ip link add switch type bridge") &&
              run(in(hub()) + "ip link set switch up");
    for (int i = 1; i <= count && usable_; ++i) usable_ = attach(i);
  }
  ~machines() {
    for (int i = 1; i <= count_; ++i) run("ip netns del " + name(i));
    run("ip netns del " + hub());
  }
  machines(const machines&) = delete;
  machines& operator=(const machines&) = delete;

  /// False: not permitted here, or not installed.
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] static std::string address(int machine) { return "10.77.0." + std::to_string(machine); }
  /// For enter_network().
  [[nodiscard]] std::string file(int machine) const { return "/run/netns/" + name(machine); }
  /// Pulls and plugs a cable. Nobody is told: the machine's own end stays up.
  void pull(int machine) const { must(in(hub()) + "ip link set port" + std::to_string(machine) + " nomaster"); }
  void plug(int machine) const { must(in(hub()) + "ip link set port" + std::to_string(machine) + " master switch"); }

 private:
  bool attach(int i) const {
    const std::string port = "port" + std::to_string(i);
    return run("ip netns add " + name(i)) &&
           run(in(hub()) + "ip link add " + port + " type veth peer name eth0 netns " + name(i)) &&
           run(in(hub()) + "ip link set " + port + " master switch up") &&
           run(in(name(i)) + "ip address add " + address(i) + "/24 dev eth0") &&
           run(in(name(i)) + "ip link set eth0 up") && run(in(name(i)) + "ip link set lo up");
  }
  static bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
  static void must(const std::string& command) {
    if (!run(command)) throw std::runtime_error(command);
  }
  static std::string in(const std::string& network) { return "ip netns exec " + network + " "; }
  [[nodiscard]] std::string hub() const { return name(0); }
  [[nodiscard]] std::string name(int i) const {
    return "ham-test-" + std::to_string(::getpid()) + "-" + std::to_string(i);
  }

  int count_;
  bool usable_ = false;
};

}  // namespace ham::test
