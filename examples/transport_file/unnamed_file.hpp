// Makes the files that frames travel through: they have no name, so that nothing is left of them, however a job ends.
#pragma once

#include <string>

#include "base/unique_fd.hpp"

namespace ham::inline v1::transport::file {

/// Where the files are unless HAM_NODES names a folder.
inline constexpr const char* usual_folder = "/tmp";

/// An empty file in `folder`, ready for frames. Where the file system cannot make files without a name it has one for
/// some microseconds. Throws ham::config_error.
[[nodiscard]] base::unique_fd make_unnamed_file(const std::string& folder);

}  // namespace ham::transport::file
