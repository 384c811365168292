// Which folders are used for the parts of traces, and what is removed there.
#include "job/trace_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/unique_fd.hpp"
#include "ham/error.hpp"

namespace trace_folder_test {

using namespace ham;
using detail::trace_folder;
namespace fs = std::filesystem;

class trace_folders : public testing::Test {
 protected:
  trace_folders() : around_(testing::TempDir() + "trace_folder." + std::to_string(::getpid())) {
    fs::remove_all(around_);
    fs::create_directory(around_);
  }
  ~trace_folders() override { fs::remove_all(around_); }
  [[nodiscard]] std::string path() const { return around_ + "/run.pftrace.parts"; }
  [[nodiscard]] std::string elsewhere() const { return around_ + "/elsewhere"; }
  static void make_file(const std::string& at) { std::ofstream(at) << "x"; }
  /// Why the folder is not used; empty: it is.
  [[nodiscard]] std::string refusal() const {
    try {
      const trace_folder used(path());
    } catch (const config_error& why) {
      return why.what();
    }
    return {};
  }
  /// A folder that a job has left.
  void leave_folder(mode_t mode = 0700) const {
    ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
    ASSERT_EQ(::chmod(path().c_str(), mode), 0);
    make_file(path() + "/node-0");
    make_file(path() + "/node-17");
  }

  const std::string around_;
};

TEST_F(trace_folders, are_made_for_this_user_alone) {
  const trace_folder made(path());
  struct stat is {};
  ASSERT_EQ(::stat(path().c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777U, 0700U);
  EXPECT_EQ(made.path(), path());
}

TEST_F(trace_folders, that_a_job_has_left_lose_their_parts) {
  leave_folder();
  make_file(path() + "/notes");
  EXPECT_EQ(refusal(), "");
  EXPECT_FALSE(fs::exists(path() + "/node-0"));
  EXPECT_FALSE(fs::exists(path() + "/node-17"));
  EXPECT_TRUE(fs::exists(path() + "/notes")) << "no part";
}

TEST_F(trace_folders, go_with_their_parts) {
  trace_folder made(path());
  make_file(path() + "/node-3");
  made.remove();
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(trace_folders, are_not_found_through_links) {
  fs::create_directory(elsewhere());
  make_file(elsewhere() + "/node-0");
  fs::create_symlink(elsewhere(), path());
  EXPECT_NE(refusal().find("a link"), std::string::npos);
  EXPECT_NE(refusal().find("HAM_TRACE"), std::string::npos);
  EXPECT_TRUE(fs::exists(elsewhere() + "/node-0"));
}

TEST_F(trace_folders, that_were_put_elsewhere_meanwhile_are_no_way_to_what_has_their_name) {
  fs::create_directory(elsewhere());
  make_file(elsewhere() + "/node-0");
  trace_folder made(path());
  make_file(path() + "/node-0");
  fs::rename(path(), around_ + "/moved");
  fs::create_symlink(elsewhere(), path());
  made.remove();
  EXPECT_TRUE(fs::exists(elsewhere() + "/node-0"));
  EXPECT_FALSE(fs::exists(around_ + "/moved/node-0"));
}

TEST_F(trace_folders, are_no_files) {
  make_file(path());
  EXPECT_NE(refusal(), "");
  EXPECT_TRUE(fs::exists(path()));
}

TEST_F(trace_folders, that_others_can_write_are_not_used) {
  for (const mode_t mode : {0770, 0707}) {
    leave_folder(mode);
    EXPECT_NE(refusal().find("others may write"), std::string::npos) << mode;
    EXPECT_TRUE(fs::exists(path() + "/node-0"));
    fs::remove_all(path());
  }
}

TEST_F(trace_folders, of_other_users_are_not_used) {
  if (::geteuid() == 0) {
    constexpr uid_t somebody = 4242;
    leave_folder();
    ASSERT_EQ(::chown(path().c_str(), somebody, static_cast<gid_t>(-1)), 0);
    EXPECT_NE(refusal().find("another user's"), std::string::npos);
    EXPECT_TRUE(fs::exists(path() + "/node-0"));
    return;
  }
  EXPECT_THROW(trace_folder("/usr"), config_error);
}

TEST_F(trace_folders, of_a_job_that_runs_are_left_alone) {
  leave_folder();
  {
    const base::unique_fd host(::open((path() + "/node-0").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(host.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_NE(refusal().find("another job"), std::string::npos);
    EXPECT_TRUE(fs::exists(path() + "/node-17"));
  }
  EXPECT_EQ(refusal(), "");
}

TEST(trace_part_names, have_the_number_of_a_node) {
  EXPECT_TRUE(detail::is_trace_part("node-0"));
  EXPECT_TRUE(detail::is_trace_part("node-123"));
  for (const char* const other : {"", ".", "node-", "node-x", "node--1", "node-1x", "node-99999999999", "a-node-1"})
    EXPECT_FALSE(detail::is_trace_part(other)) << other;
}

}  // namespace trace_folder_test
