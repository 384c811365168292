// Ciphertext on its way: buffers that OpenSSL and our records share, and a socket of a session's own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "transport/tcp/patient_socket.hpp"
#include "transport/tcp/tls_records.hpp"

namespace ham::inline v1::transport::tcp {

/// Bytes that came from the peer, and bytes that go there.
struct carrier {
  std::vector<std::byte> in;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<std::byte> out;

  // ---- what OpenSSL may take of it, and where it puts its own
  std::size_t offered = SIZE_MAX;  // at most so much of what waits
  bool held_back = false;          // `held` is what it writes to: the thread that owns `out` may be another one
  std::vector<std::byte> held;

  [[nodiscard]] std::span<std::byte> waiting() noexcept { return {in.data() + begin, end - begin}; }
  [[nodiscard]] std::span<std::byte> room(std::size_t least) {
    if (begin == end) begin = end = 0;
    if (in.size() - end < least) {
      if (begin != end) std::memmove(in.data(), in.data() + begin, end - begin);
      end -= begin;
      begin = 0;
      if (in.size() - end < least) in.resize(end + least);
    }
    return {in.data() + end, in.size() - end};
  }
};

/// A blocking socket, many records with one system call.
struct stream {
  patient_socket socket;
  std::vector<std::byte> out;
  std::size_t size = 0;                       // of what waits in `out`
  std::size_t max_content = largest_content;  // of a record

  /// The next burst: as many records as fill it, all of the same size, in whole blocks of the cipher.
  void begin() {
    constexpr std::size_t block = 16;
    const std::size_t burst = socket.burst();
    if (out.size() == burst) return;
    const std::size_t records = (burst - 1) / (largest_content + record_overhead) + 1;
    max_content = (burst / records - record_overhead) / block * block;
    out.resize(burst);
  }

  /// False: the connection ended.
  [[nodiscard]] bool receive(carrier& into, patient_socket::waiting how) {
    const ssize_t got = socket.receive(into.room(largest_content + 256 + record_overhead), how);
    if (got > 0) into.end += static_cast<std::size_t>(got);
    return got > 0;
  }

  [[nodiscard]] bool send() {
    for (std::size_t done = 0; done < size;) {
      const ssize_t sent = socket.send({out.data() + done, size - done});
      if (sent <= 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    size = 0;
    return true;
  }

  /// Bytes that need not stay together. False: the connection broke.
  [[nodiscard]] bool append(std::span<const std::byte> bytes) {
    if (size == 0) begin();
    while (!bytes.empty()) {
      const std::size_t now = std::min(bytes.size(), out.size() - size);
      std::memcpy(out.data() + size, bytes.data(), now);
      size += now;
      bytes = bytes.subspan(now);
      if (size == out.size() && !send()) return false;
    }
    return true;
  }

  /// So that `bytes` more fit into `out`. False: the connection broke.
  [[nodiscard]] bool make_room(std::size_t bytes) { return size + bytes <= out.size() || send(); }
};

}  // namespace ham::transport::tcp
