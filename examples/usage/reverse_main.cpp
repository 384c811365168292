// Reverse offload (paper 3): main runs on a target, and the host serves what main cannot do well there. The program is
// an ordinary one: HAM_MAIN_NODE, or the option --ham-main-node, says which node runs main.
// env: HAM_MAIN_NODE=1 HAM_NODES=emulated:1
// expect: main runs on node 1
// expect: node 0 has written 3 lines
#include <ham/offload.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace ham;

std::vector<std::string> log_of_host;

// Runs on the host: files, terminals and libraries that an accelerator lacks.
std::size_t write_line(const std::string& line) {
  log_of_host.push_back(line);
  return log_of_host.size();
}

int main() {
  const node_t host = 0;
  std::cout << "main runs on node " << offload::this_node() << '\n';
  std::size_t lines = 0;
  for (int step = 0; step < 3; ++step) {
    // ... compute here ...
    lines = offload::sync(host, fn<&write_line>, "step " + std::to_string(step));
  }
  std::cout << "node " << host << " has written " << lines << " lines\n";
}
