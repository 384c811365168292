// The key of one run.
#pragma once

#include "descriptor.hpp"

#include <string>

namespace ham::inline v1::run {

/// 256 random bits in hexadecimal. Throws problem.
[[nodiscard]] std::string make_job_key();

/// An open file without a name that holds `key`, to be inherited. Throws problem.
[[nodiscard]] descriptor key_in_memory(const std::string& key);

/// A new file that only this user can read and that holds `key`; it goes with this object.
class key_file {
 public:
  /// In `folder`. Throws problem.
  key_file(const std::string& folder, const std::string& key);
  key_file(const key_file&) = delete;
  key_file& operator=(const key_file&) = delete;
  ~key_file();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ham::run
