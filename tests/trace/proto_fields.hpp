// A reader of protocol buffers of its own, for tests of what writes them.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::test {

/// The fields of a message, by number; of each its values in turn.
struct proto_fields {
  struct value {
    std::uint64_t number = 0;
    std::string bytes;
  };
  std::map<std::uint32_t, std::vector<value>> all;

  explicit proto_fields(std::string_view from) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t result = 0;
      for (unsigned bit = 0; at < from.size(); bit += 7) {
        const auto byte = static_cast<unsigned char>(from[at++]);
        result |= std::uint64_t{byte & 0x7fU} << bit;
        if (byte < 0x80) return result;
      }
      ADD_FAILURE() << "cut off";
      return result;
    };
    while (at < from.size()) {
      const std::uint64_t tag = varint();
      value one;
      switch (tag & 7U) {
        case 0: one.number = varint(); break;
        case 1:
          for (unsigned i = 0; i < 8; ++i)
            one.number |= std::uint64_t{static_cast<unsigned char>(from.at(at++))} << (8 * i);
          break;
        case 2: {
          const std::uint64_t size = varint();
          one.bytes = from.substr(at, size);
          EXPECT_EQ(one.bytes.size(), size);
          at += size;
          break;
        }
        default: ADD_FAILURE() << "type " << (tag & 7U); return;
      }
      all[static_cast<std::uint32_t>(tag >> 3U)].push_back(one);
    }
  }

  [[nodiscard]] bool has(std::uint32_t field) const { return all.contains(field); }
  [[nodiscard]] std::uint64_t number(std::uint32_t field) const { return has(field) ? all.at(field)[0].number : 0; }
  [[nodiscard]] std::string text(std::uint32_t field) const { return has(field) ? all.at(field)[0].bytes : ""; }
  [[nodiscard]] double real(std::uint32_t field) const { return std::bit_cast<double>(number(field)); }
  [[nodiscard]] proto_fields message(std::uint32_t field) const { return proto_fields(text(field)); }
  [[nodiscard]] std::vector<proto_fields> messages(std::uint32_t field) const {
    std::vector<proto_fields> result;
    if (has(field))
      for (const value& one : all.at(field)) result.emplace_back(one.bytes);
    return result;
  }
};

}  // namespace ham::test
