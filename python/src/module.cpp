// The extension module ham._ham: ham/ham.h for the package ham. The job and its nodes are here.
#include "module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace ham_python {
namespace {

void start(const std::string& nodes) {
  without_gil([&] { return ham_start_nodes(nodes.c_str()); });
}

/// In a target: executes calls, and ends the process.
void serve(std::vector<std::string> arguments) {
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  int count = static_cast<int>(arguments.size());
  char** list = words.data();
  without_gil([&] { return ham_start(&count, &list); });
}

ham_node add_node(const std::string& group) {
  ham_node first = -1;
  without_gil([&] { return ham_add_node(group.c_str(), &first); });
  return first;
}

std::string node_name(ham_node node) {
  char name[256] = "";
  without_gil([&] { return ham_node_name(node, name, sizeof name); });
  return name;
}

bool alive(ham_node node) {
  int answer = 0;
  without_gil([&] { return ham_alive(node, &answer); });
  return answer != 0;
}

}  // namespace
}  // namespace ham_python

NB_MODULE(_ham, module) {
  using namespace ham_python;
  nb::set_leak_warnings(false);  // functions that were registered stay, and with them what their modules have
  module.attr("VERSION") = ham_version();
  module.def("start", &start, nb::arg("nodes"));
  module.def("serve", &serve, nb::arg("arguments"));
  module.def("finish", [] { without_gil(&ham_finish); });
  module.def("add_node", &add_node, nb::arg("group"));
  module.def(
      "remove_node", [](ham_node node) { without_gil([&] { return ham_remove_node(node); }); }, nb::arg("node"));
  module.def(
      "load_library",
      [](ham_node node, const std::string& path) { without_gil([&] { return ham_load_library(node, path.c_str()); }); },
      nb::arg("node"), nb::arg("path"));
  module.def("num_nodes", [] { return ham_num_nodes(); });
  module.def("this_node", [] { return ham_this_node(); });
  module.def("node_name", &node_name, nb::arg("node"));
  module.def("alive", &alive, nb::arg("node"));
  define_calls(module);
  define_graph(module);
  define_memory(module);
}
