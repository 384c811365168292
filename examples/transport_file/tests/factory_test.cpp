// file in HAM_NODES and HAM_TARGET, and the folders that it refuses.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "../unnamed_file.hpp"
#include "transport/groups.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::file {
namespace {

using test::group_of;
using test::refusal_of;

std::string refusal_of_folder(const std::string& folder) {
  try {
    static_cast<void>(make_unnamed_file(folder));
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

TEST(file_factory, reads_count_folder_and_cores) {
  EXPECT_EQ(group_of("file", "file").count, 1U);
  const target_group group = group_of("file", "file:2/dev/shm@1+2");
  EXPECT_EQ(group.count, 2U);
  EXPECT_EQ(group.cores, (std::vector<int>{1, 2}));
  EXPECT_NE(group.settings, nullptr);
}

TEST(file_factory, refuses_what_it_does_not_know) {
  EXPECT_NE(refusal_of("file", "file:x").find("must follow the colon"), std::string::npos);
  EXPECT_NE(refusal_of("file", "file:2=/tmp").find("left over"), std::string::npos);
}

TEST(file_factory, takes_a_descriptor_from_its_host) {
  const starting_factory& by = *test::transport_named("file").as_starting();
  EXPECT_TRUE(by.starts_own_program());
  EXPECT_FALSE(by.safe_for_privileged());
  EXPECT_TRUE(by.probe().available) << by.probe().remark;
  EXPECT_THROW(static_cast<void>(by.make_target("none")), config_error);
}

TEST(file_factory, says_which_folder_it_cannot_use_and_what_to_do) {
  const std::string why = refusal_of_folder("/nowhere/at all");
  EXPECT_NE(why.find("\"/nowhere/at all\" (No such file"), std::string::npos) << why;
  EXPECT_NE(why.find("HAM_NODES=file/dev/shm"), std::string::npos) << why;
  EXPECT_NE(refusal_of_folder("/proc"), "none");
}

TEST(file_factory, files_have_no_name) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("unnamed-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const base::unique_fd made = make_unnamed_file(folder);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  struct stat known {};
  EXPECT_EQ(::fstat(made.get(), &known), 0);
  EXPECT_EQ(known.st_nlink, 0U);
  EXPECT_EQ(known.st_mode & 0777, 0600U);
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace ham::transport::file
