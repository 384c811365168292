// What the tests of captured output share: folders for it, lines that have come.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/memory_file.hpp"
#include "base/unique_fd.hpp"
#include "ham/offload/on_output.hpp"

namespace ham::inline v1::test {

/// An empty folder, HAM_OUTPUT while it lives.
class output_folder {
 public:
  output_folder() {
    char name[] = "/tmp/ham-output-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("no folder");
    path_ = name;
    ::setenv("HAM_OUTPUT", name, 1);
  }
  ~output_folder() {
    ::unsetenv("HAM_OUTPUT");
    std::filesystem::remove_all(path_);
  }
  output_folder(const output_folder&) = delete;
  output_folder& operator=(const output_folder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

struct received_line {
  node_t node;
  offload::output_stream stream;
  std::string text;
  offload::line_end end;
  bool operator==(const received_line&) const = default;
};

/// Keeps what its handler gets.
class received_lines {
 public:
  [[nodiscard]] offload::output_handler handler() {
    return [this](node_t node, offload::output_stream stream, offload::output_line line) {
      const std::lock_guard guard(mutex_);
      lines_.push_back({node, stream, std::string(line.text), line.end});
      changed_.notify_all();
    };
  }
  [[nodiscard]] std::vector<received_line> all() {
    const std::lock_guard guard(mutex_);
    return lines_;
  }
  std::vector<received_line> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return lines_.size() >= count; });
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<received_line> lines_;
};

/// This process's descriptor `which` leads to a file while it lives.
class redirected_descriptor {
 public:
  explicit redirected_descriptor(int which)
      : which_(which), before_(copy_of(which)), file_(base::make_memory_file("test", 0)) {
    ::dup2(file_.get(), which);
  }
  ~redirected_descriptor() { ::dup2(before_.get(), which_); }
  redirected_descriptor(const redirected_descriptor&) = delete;
  redirected_descriptor& operator=(const redirected_descriptor&) = delete;
  [[nodiscard]] std::string text() const {
    char bytes[4096];
    const ssize_t got = ::pread(file_.get(), bytes, sizeof bytes, 0);
    return {bytes, static_cast<std::size_t>(got)};
  }

 private:
  static int copy_of(int which) {
    std::fflush(stdout);  // what waits there belongs to the descriptor before
    return ::dup(which);
  }
  const int which_;
  const base::unique_fd before_;
  const base::unique_fd file_;
};

}  // namespace ham::test
