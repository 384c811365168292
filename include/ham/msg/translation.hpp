// From the keys of this node to the keys of a peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ham/msg/manifest.hpp"

namespace ham::inline v1::msg {

/// Maps each key of this node to the key under which the peer has the same handler, or to the reason why it cannot be
/// called there. Immutable: any thread may read it.
///
/// Handlers are the same if kind, canonical name and layout are. Layouts of calls are texts of the form
/// "callable,parameter,parameter->result" made of layout_text(); others are compared as text.
class translation {
 public:
  static constexpr std::uint32_t host_only = 0xfffffffc;  ///< it has no version for the device that the peer runs it on
  static constexpr std::uint32_t differs = 0xfffffffd;    ///< the peer lays out what crosses differently
  static constexpr std::uint32_t missing = 0xfffffffe;    ///< the peer does not have it
  static constexpr std::uint32_t ambiguous = 0xffffffff;  ///< several handlers of one node have this name

  /// False for the four values above.
  [[nodiscard]] static constexpr bool usable(std::uint32_t key) noexcept { return key < host_only; }

  /// Translates nothing: every key is missing.
  translation() = default;

  /// From keys of `mine` to keys of `theirs`.
  translation(const manifest& mine, const manifest& theirs);

  /// The peer's key, or one of the values above; missing for a key that `mine` did not have. One array access.
  [[nodiscard]] std::uint32_t operator[](std::uint32_t my_key) const noexcept {
    return my_key < theirs_.size() ? theirs_[my_key] : missing;
  }

  /// True if every key of this node is usable and stays as it is.
  [[nodiscard]] bool identity() const noexcept { return identity_; }

  /// Whether the two nodes have any object in the same bytes, and whether they have numbers in the same byte order.
  [[nodiscard]] bool same_structs() const noexcept { return same_structs_; }
  [[nodiscard]] bool same_byte_order() const noexcept { return same_byte_order_; }

  /// Why a key is not usable, as a sentence that names the function and the argument; the empty string if it is usable.
  /// @param here, there how to call the two nodes, for example "node 0 (alpha)".
  [[nodiscard]] std::string explain(std::uint32_t my_key, std::string_view here = "this node",
                                    std::string_view there = "the other node") const;

 private:
  struct problem {
    std::string name;
    bool lambda = false;
    bool duplicate_here = false;
    bool other_structs = false;  // layouts are equal in text, but hold raw structs of nodes that differ
    bool other_kind = false;
    std::string my_layout;
    std::string their_layout;
  };

  [[nodiscard]] std::string found_instead(std::string_view pretty) const;
  std::uint32_t translate(const manifest& mine, const manifest& theirs, std::uint32_t my_key, std::uint32_t their_key);

  std::vector<std::uint32_t> theirs_;
  std::unordered_map<std::uint32_t, problem> problems_;  // of the keys that are not usable
  std::vector<std::string> only_there_;                  // names
  std::string my_data_;
  std::string their_data_;
  bool identity_ = false;
  bool same_structs_ = true;
  bool same_byte_order_ = true;
};

}  // namespace ham::msg
