// A graph that a program in C records: what offload::graph has, with types as texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ham/ham.h"
#include "ham/offload/detail/graph_calls.hpp"

namespace ham::inline v1::c_api {

/// What "parameter,...->result" says.
struct call_types {
  /// Throws bad_argument for a text that says nothing of the kind. The text must outlive this.
  explicit call_types(std::string_view layout);
  std::vector<std::string_view> parameters;
  std::string_view result;
};

/// A stage that calls a function by name.
struct named_stage {
  ham_stage number = 0;
  ham_node node = -1;
  std::string name{};
  std::string layout{};
};

/// `bytes` of an argument that is no stage. Throws bad_argument for a null pointer.
[[nodiscard]] std::span<const std::byte> bytes_of(const ham_argument& argument);

}  // namespace ham::c_api

struct ham_graph {
 public:
  // Each gives the number of what it has recorded. They throw bad_argument, ham::config_error.
  ham_stage input(std::string_view type);
  ham_stage call(ham_node node, std::string_view name, std::string_view layout,
                 std::span<const ham_argument> arguments);
  ham_stage transfer(const char* verb, ham::offload::detail::graph_transfer how);
  ham_stage copy(const ham_buffer* from, std::size_t from_offset, const ham_buffer* to, std::size_t to_offset,
                 std::size_t size);
  ham_stage begin_repeat(std::string_view type, const ham_argument* initial);
  ham_stage end_repeat(ham_stage next, ham_stage until);
  void order(ham_stage stage, ham_stage before);
  void rename(ham_stage stage, std::string name);

  /// Throws bad_argument unless it is one.
  void require_stage(ham_stage stage) const;
  /// Throws bad_argument while a repeat is being recorded.
  void require_complete() const;
  /// "stage 3 (solve)".
  [[nodiscard]] std::string describe(ham_stage stage) const;
  [[nodiscard]] const ham::offload::detail::graph_recording& recording() const noexcept { return *recording_; }
  [[nodiscard]] std::span<const ham::c_api::named_stage> calls() const noexcept { return calls_; }

 private:
  struct stage {
    std::string type;  // of what it gives; "void": nothing
    std::string name;
  };

  ham_stage add(std::uint32_t number, std::string_view type, std::string_view name);
  ham::offload::detail::graph_argument argument(const ham_argument& from, std::string_view type,
                                                const std::string& what) const;

  std::shared_ptr<ham::offload::detail::graph_recording> recording_ = ham::offload::detail::make_graph_recording();
  std::vector<stage> stages_;
  std::vector<ham::c_api::named_stage> calls_;
  ham_stage entry_ = HAM_NO_STAGE;  // of the repeat that is being recorded
};
