// What the jobs of different nodes tell each other: frames of wire_kind::notice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

/// The first byte of each.
enum class notice : std::uint8_t {
  announcement = 1,  ///< host to all: who listens where
  meet,              ///< to the host: have `node` connect to me; from the host: connect to `node`
  end_target,        ///< host to a rank: end the process of your target `node`
  run_main,          ///< host to a target: run main
  main_ended,        ///< to the host: it has ended, or there is none
  start_targets,     ///< host to a waiting program that it has invited, once: start these targets of yours
  question,          ///< to the host: which nodes are there? An announcement comes, and then
  answer,            ///< to who asked: that was all
  numbers,           ///< host to all: which numbers are supervised, and the processes that calls to them go to
  heartbeat,         ///< to the host: a function of mine is at work
};

/// kind, number of nodes, end of those of which this says all, secure, force_insecure, job key, addresses, nodes that
/// targets do not reach and whether they have networks, first and end of ranks, targets of ranks with who started them
using announcement = std::tuple<std::uint8_t, std::uint32_t, node_t, bool, bool, std::array<std::uint8_t, 32>,
                                std::vector<std::pair<node_t, std::string>>, std::vector<std::pair<node_t, bool>>,
                                std::vector<std::pair<node_t, node_t>>, std::vector<std::pair<node_t, node_t>>>;
/// kind, node
using meeting = std::tuple<std::uint8_t, node_t>;
/// kind, node, milliseconds
using ending = std::tuple<std::uint8_t, node_t, std::int64_t>;
/// kind, the program's name and its arguments, whether with a progress thread
using main_request = std::tuple<std::uint8_t, std::vector<std::string>, bool>;
/// kind, number of the question, of those that the asking node has asked
using question_number = std::tuple<std::uint8_t, std::uint32_t>;
/// kind, exit status, whether the process is about to exit, why it did not run
using main_end = std::tuple<std::uint8_t, std::int32_t, bool, std::string>;

/// kind; number, process, replacements::phase
using supervised_numbers = std::tuple<std::uint8_t, std::vector<std::tuple<node_t, node_t, std::uint8_t>>>;
/// kind, one more than the largest number of a node; first number, how many, and the group as in HAM_NODES
using start_request =
    std::tuple<std::uint8_t, std::uint32_t, std::vector<std::tuple<node_t, std::uint32_t, std::string>>>;

constexpr std::uint8_t kind_of(notice what) noexcept { return static_cast<std::uint8_t>(what); }

/// Of any value: it may be of no kind known here. Throws ham::protocol_error if there is none.
inline notice notice_in(std::span<const std::byte> text) {
  if (text.empty()) throw protocol_error("an empty notice");
  return static_cast<notice>(text.front());
}

template <class T>
std::vector<std::byte> pack(const T& value) {
  std::vector<std::byte> bytes(msg::encoded_size(value));
  msg::writer to(bytes.data(), bytes.size());
  msg::encode(to, value);
  return bytes;
}

/// Throws ham::protocol_error.
template <class T>
T unpack(std::span<const std::byte> bytes) {
  msg::reader from(bytes);
  T value = msg::decode<T>(from);
  from.expect_end();
  return value;
}

}  // namespace ham::detail
