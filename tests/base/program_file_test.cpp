// Finding programs, and telling what processor they are for.
#include "base/program_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

class program_file : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ham-program-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    const char* const path = std::getenv("PATH");
    path_ = path == nullptr ? "" : path;
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }

  std::string make(const std::string& name, mode_t mode, const std::string& content = "#!/bin/sh\n") {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }
  static std::string problem_of(const std::string& name) {
    try {
      return "found " + find_program(name);
    } catch (const config_error& problem) {
      return problem.what();
    }
  }

  std::string folder_;
  std::string path_;
};

TEST_F(program_file, by_path) {
  const std::string good = make("good", 0755);
  EXPECT_EQ(find_program(good), good);
  EXPECT_EQ(find_program("/proc/self/exe"), "/proc/self/exe");
  EXPECT_NE(problem_of(folder_ + "/absent").find("no such file"), std::string::npos);
  EXPECT_NE(problem_of(folder_).find("directory"), std::string::npos);
  EXPECT_NE(problem_of(make("data", 0644)).find("chmod +x"), std::string::npos);
}

TEST_F(program_file, by_name) {
  ::setenv("PATH", ("/nonexistent:" + folder_ + ":/bin").c_str(), 1);
  EXPECT_EQ(find_program(make("mine", 0755)), folder_ + "/mine");
  EXPECT_EQ(find_program("sh"), "/bin/sh");
  EXPECT_NE(problem_of("ham-absent-program").find("no folder of PATH"), std::string::npos);
  (void)make("plain", 0644);
  EXPECT_NE(problem_of("plain").find("chmod +x"), std::string::npos);
}

std::string elf(char data, std::uint16_t machine) {
  std::string head(64, '\0');
  head.replace(0, 4, "\177ELF");
  head[4] = 2;
  head[5] = data;
  head[data == 1 ? 18 : 19] = static_cast<char>(machine);
  head[data == 1 ? 19 : 18] = static_cast<char>(machine >> 8);
  return head;
}

TEST_F(program_file, processor) {
  EXPECT_EQ(elf_machine(make("arm", 0644, elf(1, 183))), "aarch64");
  EXPECT_EQ(elf_machine(make("z", 0644, elf(2, 22))), "s390x");
  EXPECT_EQ(elf_machine(make("risc", 0644, elf(1, 243))), "riscv64");
  EXPECT_EQ(elf_machine(make("power", 0644, elf(1, 21))), "ppc64le");
  EXPECT_EQ(elf_machine(make("power-big", 0644, elf(2, 21))), "ppc64");
  EXPECT_EQ(elf_machine(make("other", 0644, elf(1, 4242))), "unknown (ELF machine 4242)");
  EXPECT_EQ(elf_machine(make("script", 0755)), "");
  EXPECT_EQ(elf_machine(folder_ + "/absent"), "");
  EXPECT_FALSE(elf_machine("/proc/self/exe").empty());
}

}  // namespace
}  // namespace ham::base
