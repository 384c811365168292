// Exceptions that are sent to another node and back, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "core/remote_exception.hpp"
#include "ham/msg/codec.hpp"

namespace ham::inline v1::test {

/// What a peer may send instead of an exception.
inline std::vector<std::byte> bytes_of(std::uint8_t code, const std::string& type, const std::string& what,
                                       const std::string& extra) {
  const std::tuple all{code, type, what, extra};
  std::vector<std::byte> bytes(msg::encoded_size(all));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, all);
  return bytes;
}

/// What `thrower` throws, as the caller gets it.
template <class E, class Throw>
E through_bytes(Throw thrower) {
  std::vector<std::byte> bytes;
  try {
    thrower();
  } catch (...) {
    bytes = detail::encode_current_exception();
  }
  try {
    std::rethrow_exception(detail::decode_exception(bytes, "f()", {}));
  } catch (const E& arrived) {
    EXPECT_EQ(typeid(arrived), typeid(E));
    return arrived;
  }
  throw std::logic_error("nothing was thrown");
}

}  // namespace ham::test
