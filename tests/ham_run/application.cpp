// What ham-run starts in its tests: application WORD [ARGUMENT...]
#include <ham/offload.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

using namespace ham;

namespace {

/// What a node knows of itself.
std::string describe(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  char folder[4096] = "";
  if (::getcwd(folder, sizeof folder) == nullptr) folder[0] = '\0';
  return std::to_string(offload::this_node()) + " variable=" + (value == nullptr ? "-" : value) + " folder=" + folder;
}

void say(const std::string& text) {
  std::cout << text << std::endl;
  std::cerr << text << " (error)" << std::endl;
}

int pid() { return ::getpid(); }
int parent() { return ::getppid(); }

node_t nodes() { return static_cast<node_t>(offload::num_nodes()); }

/// Prints every process of the job, in one line.
void print_processes() {
  std::string line = "processes " + std::to_string(::getpid());
  for (node_t node = 1; node < nodes(); ++node) {
    line += " " + std::to_string(offload::sync(node, fn<&pid>));
    // The process that waits for hosts is the parent of the one that serves this one.
    const int above = offload::sync(node, fn<&parent>);
    if (above != ::getpid()) line += " " + std::to_string(above);
  }
  std::cout << line << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  const std::string argument = argc > 2 ? argv[2] : "";
  if (word == "describe") {
    std::cout << "nodes=" << nodes() << '\n';
    for (node_t node = 0; node < nodes(); ++node) {
      std::cout << "node " << (node == 0 ? describe(argument) : offload::sync(node, fn<&describe>, argument)) << '\n';
    }
    return 0;
  }
  if (word == "say") {
    say("host speaks");
    for (node_t node = 1; node < nodes(); ++node) {
      offload::sync(node, fn<&say>, "node " + std::to_string(node) + " speaks");
    }
    return 0;
  }
  if (word == "exit") return std::atoi(argument.c_str());
  if (word == "die") std::raise(std::atoi(argument.c_str()));
  if (word == "arguments") {
    for (int i = 2; i < argc; ++i) std::cout << '<' << argv[i] << ">\n";
    return 0;
  }
  if (word == "wait") {
    print_processes();
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return 1;
}
