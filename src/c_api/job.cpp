// The job of a program in C: its start and end, and its nodes.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "c_api/status.hpp"
#include "ham/error.hpp"
#include "ham/ham.h"
#include "ham/offload/library.hpp"
#include "ham/offload/node.hpp"
#include "ham/offload/runtime.hpp"

namespace ham::inline v1::c_api {
namespace {

/// Lives as long as the process; what it holds ends with it at the latest.
std::unique_ptr<runtime>& own_job() {
  static std::unique_ptr<runtime>& job = *new std::unique_ptr<runtime>;
  return job;
}

bool is_up() {
  try {
    return offload::num_nodes() != 0;
  } catch (const config_error&) {
    return false;
  }
}

/// `make` gives the runtime.
template <class Make>
int start(Make make) {
  return guarded([&] {
    if (is_up()) return HAM_OK;
    static const bool ends_with_process = std::atexit([] { own_job().reset(); }) == 0;
    if (!ends_with_process) throw error("the job cannot be made to end with the process (atexit failed)");
    own_job() = make();
    return HAM_OK;
  });
}

}  // namespace
}  // namespace ham::c_api

int ham_version(void) { return HAM_VERSION; }

int ham_start(int* argc, char*** argv) {
  return ham::c_api::start([&] {
    if (argc == nullptr || argv == nullptr) return std::make_unique<ham::runtime>(ham::runtime_options());
    return std::make_unique<ham::runtime>(*argc, *argv);
  });
}

int ham_start_nodes(const char* nodes) {
  return ham::c_api::start([&] {
    ham::c_api::require(nodes, "the text of the nodes");
    ham::runtime_options options;
    options.nodes = nodes;
    return std::make_unique<ham::runtime>(options);
  });
}

int ham_finish(void) {
  return ham::c_api::guarded([] {
    ham::c_api::own_job().reset();
    return HAM_OK;
  });
}

int32_t ham_num_nodes(void) {
  try {
    return static_cast<int32_t>(ham::offload::num_nodes());
  } catch (...) {
    return 0;
  }
}

ham_node ham_this_node(void) {
  try {
    return ham::offload::this_node();
  } catch (...) {
    return -1;
  }
}

int ham_node_name(ham_node node, char* name, size_t space) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(name, "the space for the name");
    if (space == 0) throw ham::c_api::bad_argument{"there is no space for the name"};
    const std::string text = ham::offload::get_node_descriptor(node).name();
    const std::size_t length = text.size() < space ? text.size() : space - 1;
    std::memcpy(name, text.data(), length);
    name[length] = '\0';
    return HAM_OK;
  });
}

int ham_alive(ham_node node, int* alive) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(alive, "the place of the answer");
    *alive = 0;
    *alive = ham::offload::alive(node) ? 1 : 0;
    return HAM_OK;
  });
}

int ham_add_node(const char* group, ham_node* first) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(group, "the text of the nodes");
    const ham_node added = ham::offload::add_node(group);
    if (first != nullptr) *first = added;
    return HAM_OK;
  });
}

int ham_remove_node(ham_node node) {
  return ham::c_api::guarded([&] {
    ham::offload::remove_node(node);
    return HAM_OK;
  });
}

int ham_load_library(ham_node node, const char* path) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(path, "the path of the library");
    static_cast<void>(ham::offload::load_library(node, path));
    return HAM_OK;
  });
}
