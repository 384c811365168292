// A connection: one file for each direction.
#pragma once

#include <string>

#include "base/unique_fd.hpp"
#include "frame_reader.hpp"
#include "frame_writer.hpp"
#include "transport/common/polled_endpoint.hpp"

namespace ham::inline v1::transport::file {

/// The files of one direction each, seen from one side.
struct file_pair {
  base::unique_fd outgoing, incoming;
};

class file_endpoint final : public polled_endpoint {
 public:
  file_endpoint(node_t peer, file_pair files);

  [[nodiscard]] std::size_t max_payload() const noexcept override { return file::max_payload; }
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override;
  void cancel() noexcept override {}  // the next reservation takes the same memory
  void commit(const frame_head& head) noexcept override;
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return writer_.consumed(); }

  [[nodiscard]] bool poll(frame& out) noexcept override;
  void release() noexcept override { reader_.release(); }

  [[nodiscard]] bool empty() const noexcept override { return reader_.empty(); }
  [[nodiscard]] bool malformed() const noexcept override { return reader_.malformed() || writer_.malformed(); }
  [[nodiscard]] bool failed() const noexcept override { return reader_.error() != 0 || writer_.error() != 0; }
  [[nodiscard]] std::string failure() const override;

 private:
  file_pair files_;
  frame_writer writer_;
  frame_reader reader_;
};

}  // namespace ham::transport::file
