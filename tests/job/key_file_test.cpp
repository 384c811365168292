// Key files: made once, read back, and refused where others could have read them or nothing would ever come.
#include "job/key_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ham::inline v1::detail {
namespace {

class key_files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "ham-key-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const char* name) const { return folder_ + "/" + name; }
  static std::string refusal(const std::string& from) {
    try {
      static_cast<void>(read_key(from));
    } catch (const config_error& problem) {
      return problem.what();
    }
    return "read";
  }

 private:
  std::string folder_;
};

TEST_F(key_files, are_made_once_for_their_owner_and_read_back) {
  make_key_file(file("one"));
  make_key_file(file("two"));
  EXPECT_EQ(read_key(file("one")), read_key(file("one")));
  EXPECT_NE(read_key(file("one")), read_key(file("two")));
  EXPECT_EQ(std::filesystem::status(file("one")).permissions(), std::filesystem::perms(0600));
  EXPECT_THROW(make_key_file(file("one")), config_error);
}

TEST_F(key_files, that_others_may_read_are_refused) {
  make_key_file(file("open"));
  for (const mode_t mode : {0640, 0604, 0620}) {
    ASSERT_EQ(::chmod(file("open").c_str(), mode), 0);
    EXPECT_NE(refusal(file("open")).find("chmod 600"), std::string::npos) << mode;
  }
}

// Found by the fuzzer: what stood behind the first 256 bytes was not looked at.
TEST_F(key_files, that_hold_more_than_a_key_are_refused) {
  const auto written = [&](const std::string& text) {
    std::ofstream(file("key")) << text;
    ::chmod(file("key").c_str(), 0600);
    return refusal(file("key"));
  };
  const std::string key(64, 'a');
  EXPECT_EQ(written(key + "\r\n"), "read");
  EXPECT_EQ(written(key + std::string(100, '\n')), "read");
  for (const std::size_t spaces : {1, 191, 192, 500}) {
    EXPECT_NE(written(key + std::string(spaces, ' ') + "b").find("64 hexadecimal"), std::string::npos) << spaces;
  }
}

TEST_F(key_files, a_pipe_that_nobody_writes_is_refused_at_once) {
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(file("pipe")).find("no ordinary file"), std::string::npos);
  EXPECT_NE(refusal(testing::TempDir()).find("no ordinary file"), std::string::npos);
  EXPECT_NE(refusal(file("absent")).find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace ham::detail
