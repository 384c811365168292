// Libraries of functions that nodes load while the job runs: plug-ins, extension modules of an interpreter.
//
//   const auto there = offload::load_library(1, "/opt/app/kernels.so");
//   double r = offload::sync(1, named<"kernels.scale">(fn<&scale>), 2.0);
//   offload::unload_library(there);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ham/offload/destination.hpp"

namespace ham::inline v1::offload {

/// A library that a node has loaded. A copyable value: a name, which does not own it.
class library {
 public:
  library() = default;
  /// For the library and bindings: what load_library() has got to know.
  library(const destination& where, std::string path, std::uint64_t number, std::vector<std::string> functions)
      : where_(where), path_(std::move(path)), number_(number), functions_(std::move(functions)) {}

  /// The process that has loaded it: of a supervised node that was started again not the supervised number.
  [[nodiscard]] node_t node() const noexcept { return where_.node; }
  /// That node in its runtime, without a deadline.
  [[nodiscard]] const destination& where() const noexcept { return where_; }
  /// As load_library() was given it: a path on that node, or a name that its linker searches for.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Of its node, among all that this has loaded.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Names, for people, of the functions that it has brought along and that can be called: those that code in it, or
  /// in a library that it needs, calls or offers (ham::offer).
  [[nodiscard]] const std::vector<std::string>& functions() const noexcept { return functions_; }

 private:
  destination where_{0};
  std::string path_;
  std::uint64_t number_ = 0;
  std::vector<std::string> functions_;
};

/// Makes a node load a shared library (dlopen, with the node's search path and working directory) and waits for it. Its
/// functions can be called there from then on, by all nodes whose programs have them too: from the start, or in a
/// library that they have loaded themselves, by this function with their own number, or by dlopen. Nodes learn of each
/// other's new functions when they first call one, which takes one more message; the functions that nodes have had
/// before keep their keys, and are called as ever. Programs of other builds are told apart as ever.
///
/// The library must use the HAM of the program: libham.so, or the copy in a program that exports its symbols. The same
/// library again: nothing is loaded. Only the host may make other nodes load libraries, as it has started their
/// programs; each node may load them itself.
/// Throws ham::call_error with the linker's reason, or if the caller may not; else as sync.
[[nodiscard]] library load_library(const destination& node, const std::string& path);

/// Takes the functions of a library away, and closes it, if the system lets it go: GCC's libraries with templates stay
/// in memory. Refuses with ham::call_error while calls of its functions are pending: those that this node has made
/// there, those that run there, wait there, or that the node has made itself, also by retry() or as repeatable tasks of
/// pools, and, whatever they are, pooled calls and calls of groups that are under way there. A call that arrives
/// afterwards fails with ham::call_error. Unloaded already: nothing. Throws ham::node_failure if the
/// process that has loaded it was replaced by another one: nothing of that is unloaded.
void unload_library(const library& what);

}  // namespace ham::offload
