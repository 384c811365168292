#include "allocations.hpp"

#include <unistd.h>

#include <new>
#include <stdexcept>
#include <string>

namespace ham::inline v1::bench {

namespace {

/// A target of loopback counts with its host.
bool has_own_process(node_t node) { return offload::get_node_descriptor(node).pid() != getpid(); }

}  // namespace

void begin_counting_on_all(int targets) {
  for (node_t node = 1; node <= targets; ++node) {
    if (has_own_process(node)) offload::sync(node, fn<&begin_counting_allocations>);
  }
  begin_counting_allocations();
}

std::uint64_t end_counting_on_all(int targets) {
  std::uint64_t found = end_counting_allocations();
  for (node_t node = 1; node <= targets; ++node) {
    if (has_own_process(node)) found += offload::sync(node, fn<&end_counting_allocations>);
  }
  return found;
}

namespace {

std::uint64_t count_one_allocation() {
  begin_counting_allocations();
  ::operator delete(::operator new(1));
  return end_counting_allocations();
}

}  // namespace

void check_counting(int targets) {
  for (node_t node = 0; node <= targets; ++node) {
    if ((node == 0 ? count_one_allocation() : offload::sync(node, fn<&count_one_allocation>)) == 0)
      throw std::runtime_error("allocations of node " + std::to_string(node) + " are not counted");
  }
}

}  // namespace ham::bench
