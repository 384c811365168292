// What a node can execute and how it lays out data: exchanged between nodes whose digests differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ham/msg/data_layout.hpp"
#include "ham/msg/digest.hpp"
#include "ham/msg/handler.hpp"

namespace ham::inline v1::msg {

class handler_table;

/// The list of handlers of one node in the order of their keys, and its data layout. A value: copies share nothing.
class manifest {
 public:
  struct entry {
    std::string name;  ///< canonical
    std::string layout;
    handler_kind kind = handler_kind::call;
    bool duplicate = false;
    bool host_only = false;  ///< the device of the node, on which it would run, has no version of it

    /// The name for people.
    [[nodiscard]] std::string pretty() const;
    friend bool operator==(const entry&, const entry&) = default;
  };

  /// Limits of what parse() accepts; names: max_name_bytes.
  static constexpr std::size_t max_bytes = std::size_t{64} << 20;
  static constexpr std::size_t max_layout_bytes = std::size_t{1} << 20;

  /// Of these handlers, in the order of their keys. Computes the digest.
  manifest(const data_layout& layout, std::vector<entry> entries);

  /// The manifest of the current handler table of this process.
  [[nodiscard]] static manifest local();
  /// That of the handlers that there were when the table was built.
  [[nodiscard]] static manifest of(const handler_table& table);

  /// Reads what serialise() wrote on another node. Trusts nothing: throws protocol_error for bytes that are too many or
  /// too few, unknown versions and kinds, two entries of one name, and names that are not printable. Allocates no more
  /// than a small multiple of bytes.size(), and takes time proportional to that and a logarithm of the number of
  /// entries.
  [[nodiscard]] static manifest parse(std::span<const std::byte> bytes);

  /// The same bytes on every architecture.
  [[nodiscard]] std::vector<std::byte> serialise() const;

  /// Digest of the data layout and of all entries.
  [[nodiscard]] const digest& id() const noexcept { return digest_; }
  /// How that node lays out data.
  [[nodiscard]] const data_layout& layout() const noexcept { return layout_; }
  /// Index is the key.
  [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

 private:
  data_layout layout_;
  std::vector<entry> entries_;
  digest digest_;
};

}  // namespace ham::msg
