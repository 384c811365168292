// What nodes call at each other, and have others call, for tests of jobs whose nodes are connected in different ways.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "ham/offload.hpp"

namespace ham::inline v1::test {

inline pid_t my_pid() { return ::getpid(); }
inline pid_t pid_of(node_t node) { return offload::sync(node, fn<&my_pid>); }
inline std::string medium_to(node_t node) {
  static_cast<void>(pid_of(node));
  return offload::get_node_descriptor(node).transport();
}
inline std::string twice(const std::string& text) { return text + text; }
inline std::string twice_at(node_t node, const std::string& text) { return offload::sync(node, fn<&twice>, text); }
inline int complain(int code) { throw std::out_of_range("code " + std::to_string(code)); }
inline std::string complaint_of(node_t node, int code) {
  try {
    return std::to_string(offload::sync(node, fn<&complain>, code));
  } catch (const std::out_of_range& thrown) {
    return thrown.what();
  }
}
inline int next(int value) { return value + 1; }
inline int many_calls(node_t node, int count) {
  std::vector<offload::future<int>> all;
  for (int i = 0; i < count; ++i) all.push_back(offload::async(node, fn<&next>, i));
  int right = 0;
  for (int i = 0; i < count; ++i) right += all[static_cast<std::size_t>(i)].get() == i + 1 ? 1 : 0;
  return right;
}
inline int batch_of_calls(node_t node, int count) {
  offload::batch calls(node);
  std::vector<offload::future<int>> all;
  for (int i = 0; i < count; ++i) all.push_back(calls.add(fn<&next>, i));
  calls.submit();
  int sum = 0;
  for (auto& one : all) sum += one.get();
  return sum;
}
inline int calls_of_a_context(node_t node, int count) {
  const offload::context aside(node);
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += offload::sync(aside, fn<&next>, i);
  return sum;
}
inline int ping_pong(node_t partner, int depth) {
  if (depth == 0) return 0;
  return 1 + offload::sync(partner, fn<&ping_pong>, offload::this_node(), depth - 1);
}

}  // namespace ham::test
