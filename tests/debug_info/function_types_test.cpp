// What the debug information of this program says of functions in it.
#include "debug_info/function_types.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "bulk.hpp"

extern "C" {

struct debug_info_test_pair {
  double x, y;
};

double debug_info_test_numbers(double a, std::int8_t b, float c, std::uint16_t d, bool e) { return a + b + c + d + e; }
void debug_info_test_pointers(const double* a, void* b, char** c, void (*d)(int)) {
  if (d != nullptr) d(a != nullptr && b != nullptr && c != nullptr ? 1 : 0);
}
debug_info_test_pair debug_info_test_structures(debug_info_test_pair a) { return a; }
int debug_info_test_variadic(int count, ...) { return count; }
}

namespace ham::inline v1::debug_info {
namespace {

const char* const program = "/proc/self/exe";

/// A file that is there as long as its guard.
class copy_of_program {
 public:
  explicit copy_of_program(std::size_t bytes = std::size_t(-1)) {
    std::ifstream in(program, std::ios::binary);
    std::string content(std::istreambuf_iterator<char>(in), {});
    size_ = content.size();
    if (bytes < size_) content.resize(bytes);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~copy_of_program() { remove(); }
  copy_of_program(const copy_of_program&) = delete;
  copy_of_program& operator=(const copy_of_program&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void remove() const { std::remove(path_.c_str()); }

 private:
  std::string path_ = testing::TempDir() + "ham_debug_info_" + std::to_string(::getpid());
  std::size_t size_ = 0;
};

signature types_of(const std::string& name) {
  std::string why;
  auto found = function_types(program).find(name, why);
  EXPECT_TRUE(found) << why;
  return found.value_or(signature{});
}

TEST(function_types, knows_classes_and_sizes_of_numbers) {
  const signature types = types_of("debug_info_test_numbers");
  ASSERT_EQ(types.parameters.size(), 5U);
  EXPECT_EQ(types.result.kind, type_kind::floating);
  const type_kind kinds[] = {type_kind::floating, type_kind::signed_integer, type_kind::floating,
                             type_kind::unsigned_integer, type_kind::unsigned_integer};
  const std::size_t sizes[] = {8, 1, 4, 2, 1};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(types.parameters[i].kind, kinds[i]) << i;
    EXPECT_EQ(types.parameters[i].size, sizes[i]) << i;
  }
  EXPECT_FALSE(types.variadic);
  EXPECT_TRUE(types.prototyped);
}

TEST(function_types, knows_how_registers_hold_what_cannot_cross) {
  const signature types = types_of("debug_info_test_pointers");
  ASSERT_EQ(types.parameters.size(), 4U);
  EXPECT_EQ(types.result.kind, type_kind::nothing);
  for (const type& one : types.parameters) EXPECT_EQ(register_kind(one), type_kind::pointer) << one.name;
  EXPECT_EQ(types.parameters[2].kind, type_kind::opaque);
  EXPECT_EQ(types.parameters[3].kind, type_kind::opaque);
  const signature structures = types_of("debug_info_test_structures");
  EXPECT_EQ(register_kind(structures.result), type_kind::nothing);
  EXPECT_EQ(register_kind(structures.parameters.at(0)), type_kind::nothing);
}

TEST(function_types, knows_that_more_arguments_may_follow) {
  const signature types = types_of("debug_info_test_variadic");
  EXPECT_TRUE(types.variadic);
  EXPECT_EQ(types.parameters.size(), 2U);
}

TEST(function_types, says_why_it_knows_nothing) {
  std::string why;
  EXPECT_FALSE(function_types(program).find("debug_info_test_absent", why));
  EXPECT_NE(why.find("does not have this function"), std::string::npos) << why;
  EXPECT_FALSE(function_types("/absent/file").find("debug_info_test_numbers", why));
  EXPECT_NE(why.find("/absent/file cannot be opened"), std::string::npos) << why;
  EXPECT_FALSE(function_types("/proc/self/cmdline").find("debug_info_test_numbers", why));
}

TEST(function_types, reads_a_file_that_has_been_deleted_meanwhile) {
  const copy_of_program copy;
  function_types types(copy.path());
  copy.remove();
  std::string why;
  EXPECT_TRUE(types.find("debug_info_test_numbers", why)) << why;
  EXPECT_TRUE(types.find("debug_info_test_variadic", why)) << why;
}

TEST(function_types, survives_files_that_are_cut_off) {
  const std::size_t size = copy_of_program().size();
  // Reading what is left takes seconds under a sanitizer.
  constexpr std::size_t parts = ham::test::unless_sanitized<std::size_t>(8, 3);
  for (std::size_t part = 0; part < parts; ++part) {
    const copy_of_program copy(size / parts * part);
    function_types types(copy.path());
    std::string why;
    EXPECT_FALSE(types.find("debug_info_test_numbers", why));
    EXPECT_FALSE(why.empty());
    EXPECT_FALSE(types.has_symbol("debug_info_test_absent"));
  }
}

TEST(function_types, knows_the_symbols_that_the_loader_sees) {
  const function_types types(program);
  EXPECT_TRUE(types.has_symbol("__libc_start_main"));
  EXPECT_FALSE(types.has_symbol("debug_info_test_absent"));
}

}  // namespace
}  // namespace ham::debug_info
