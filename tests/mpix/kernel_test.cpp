// Calls of kernels whose types are known from debug information, registration, the call, or not at all.
#include "mpix/kernel.hpp"

#include "mpix/kernel_objects.hpp"
#include "mpix/refusal.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ham::inline v1::mpix {
namespace {

// Arguments as they arrive: bytes, aligned.
class arguments {
 public:
  template <class... Args>
  explicit arguments(const Args&... args) {
    (add(&args, sizeof args), ...);
  }
  void add(const void* from, std::size_t size) {
    sizes.push_back(static_cast<std::uint32_t>(size));
    auto& place = places_.emplace_back(new std::max_align_t[size / sizeof(std::max_align_t) + 1]);
    std::memcpy(place.get(), from, size);
    bytes.push_back(size == 0 ? nullptr : reinterpret_cast<std::byte*>(place.get()));
  }
  std::vector<std::uint32_t> sizes;
  std::vector<std::byte*> bytes;

 private:
  std::vector<std::unique_ptr<std::max_align_t[]>> places_;
};

/// The libraries that this program is linked with, as ham-kernel-host takes them.
[[maybe_unused]] const bool offered = [] {
  for (const char* variant : {HAM_TEST_KERNEL_VARIANTS, "bare"}) {
    Dl_info where{};
    void* const function = ::dlsym(RTLD_DEFAULT, (std::string(variant) + "_nothing").c_str());
    if (::dladdr(function, &where) == 0 || !offer_library(where.dli_fname).empty()) return false;
  }
  return true;
}();

std::int64_t call(const std::string& name, arguments args) { return kernel({name, args.sizes}).run(args.bytes); }

std::pair<failure, std::string> why_not(const std::string& name, const arguments& args) {
  try {
    const kernel ready({name, args.sizes});
    return {failure::none, ""};
  } catch (const refusal& problem) {
    return {problem.code(), problem.what()};
  }
}

std::string seen(const std::string& prefix) {
  const auto* text = static_cast<const char*>(::dlsym(RTLD_DEFAULT, (prefix + "seen").c_str()));
  return text != nullptr ? text : "no text";
}

struct point {
  double x;
  float y[2];
};
struct shape {
  point corner;
  int id;
  char tag[3];
};
constexpr shape a_shape{{1.5, {2.5F, 3.5F}}, 42, {'a', 'b', 'c'}};
constexpr point a_point{8.5, {0, 9.5F}};

class described_kernel : public testing::TestWithParam<const char*> {
 protected:
  std::string prefix() const { return std::string(GetParam()) + "_"; }
  std::string name(const char* of) const { return prefix() + of; }
};

TEST_P(described_kernel, gets_the_arguments_of_listing_2) {
  call(name("listing"), arguments(0.5, 10, 'x'));
  EXPECT_EQ(seen(prefix()), "0.5 10 x");
  call(name("nothing"), arguments());
  EXPECT_EQ(seen(prefix()), "nothing");
}

TEST_P(described_kernel, gets_more_arguments_than_registers) {
  call(name("many"),
       arguments(1.5, -2, char{3}, 4.5F, -5L, short{-6}, 7.5, 8.5F, static_cast<unsigned char>(200), 10.5, -11, 12.5,
                 13.5, 14.5, 15.5, 16000000000ULL, static_cast<signed char>(-17), 18.5F, true, 20.5));
  EXPECT_EQ(seen(prefix()), "1.5 -2 3 4.5 -5 -6 7.5 8.5 200 10.5 -11 12.5 13.5 14.5 15.5 16000000000 -17 18.5 1 20.5");
}

TEST_P(described_kernel, gets_structures_by_value_and_returns_integers) {
  EXPECT_EQ(call(name("structures"), arguments(7, 9U, a_shape, a_point)), -5000000000LL);
  EXPECT_EQ(seen(prefix()), "7 9 1.5 2.5 3.5 42 abc 8.5 9.5");
  EXPECT_EQ(call(name("small_result"), arguments(short{-32767})), -32768);
}

TEST_P(described_kernel, gets_pointers_to_the_received_bytes) {
  const double values[] = {1, 2, 3, 4};
  arguments args(values, 4, a_shape, "text");
  args.add("", 0);
  EXPECT_EQ(call(name("pointers"), std::move(args)), -7);
  EXPECT_EQ(seen(prefix()), "10 42 text 1");
}

TEST_P(described_kernel, is_not_called_when_number_or_size_do_not_fit) {
  auto [code, text] = why_not(name("listing"), arguments(0.5, 10));
  EXPECT_EQ(code, failure::mismatch);
  EXPECT_NE(text.find("takes 3 arguments, the call has 2"), std::string::npos) << text;
  std::tie(code, text) = why_not(name("listing"), arguments(0.5F, 10, 'x'));
  EXPECT_EQ(code, failure::mismatch);
  EXPECT_NE(text.find("argument 1 of kernel \"" + name("listing") + "\" (double) has 8 bytes, the call has 4"),
            std::string::npos)
      << text;
  EXPECT_EQ(why_not(name("pointers"), arguments(1.0F, 4, a_shape, "text", 1)).first, failure::mismatch);
  EXPECT_EQ(why_not(name("listing") + "(int*, int, char)", arguments(0.5, 10, 'x')).first, failure::mismatch);
  EXPECT_EQ(why_not(name("listing") + "(double, int, char)", arguments(0.5, 10, 'x')).first, failure::none);
}

TEST_P(described_kernel, is_not_called_with_what_cannot_cross) {
  const void* address = nullptr;
  for (const auto& [kernel, words] : {std::pair{"refused_pointers", "pointer to pointers"},
                                      {"refused_function", "function of the caller"},
                                      {"refused_member", "pointers"}}) {
    const auto [code, text] = why_not(name(kernel), arguments(address));
    EXPECT_EQ(code, failure::untyped) << kernel;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
  EXPECT_EQ(why_not(name("refused_union"), arguments(1)).first, failure::untyped);
  EXPECT_EQ(why_not(name("refused_bits"), arguments(1)).first, failure::untyped);
  EXPECT_EQ(why_not(name("refused_packed"), arguments(std::array<char, 9>{})).first, failure::untyped);
  EXPECT_NE(why_not(name("refused_variadic"), arguments(1)).first, failure::none);
}

INSTANTIATE_TEST_SUITE_P(variants, described_kernel, testing::Values(HAM_TEST_KERNEL_VARIANTS),
                         [](const auto& info) { return std::string(info.param); });

TEST(bare_kernel, is_called_only_if_sizes_decide) {
  call("bare_open", arguments(short{-3}, static_cast<unsigned char>(250), 2.5F));
  EXPECT_EQ(seen("bare_"), "-3 250 2.5");
  call("bare_open_integer", arguments(short{-3}, -70000000000L));
  EXPECT_EQ(seen("bare_"), "-3 -70000000000");
  call("bare_nothing", arguments());
  EXPECT_EQ(seen("bare_"), "nothing");
  const auto [code, text] = why_not("bare_listing", arguments(0.5, 10, 'x'));
  EXPECT_EQ(code, failure::untyped);
  EXPECT_NE(text.find("argument 1 of kernel \"bare_listing\" (8 bytes) may be one thing or another"), std::string::npos)
      << text;
  EXPECT_NE(text.find("its types are not known (it was compiled without -g"), std::string::npos) << text;
  EXPECT_EQ(why_not("bare_structures", arguments(7, 9U, a_shape, a_point)).first, failure::untyped);
}

TEST(bare_kernel, is_called_with_the_types_that_the_call_tells) {
  call("bare_listing(double, int, char)", arguments(0.5, 10, 'x'));
  EXPECT_EQ(seen("bare_"), "0.5 10 x");
  call(
      "bare_many (double,int,char,float,long int,short,double,float,unsigned char,double,int32_t,double,double,double,"
      "double,unsigned long long,std::int8_t,float,bool,double)",
      arguments(1.5, -2, char{3}, 4.5F, -5L, short{-6}, 7.5, 8.5F, static_cast<unsigned char>(200), 10.5, -11, 12.5,
                13.5, 14.5, 15.5, 16000000000ULL, static_cast<signed char>(-17), 18.5F, true, 20.5));
  EXPECT_EQ(seen("bare_"), "1.5 -2 3 4.5 -5 -6 7.5 8.5 200 10.5 -11 12.5 13.5 14.5 15.5 16000000000 -17 18.5 1 20.5");
  EXPECT_EQ(why_not("bare_listing(double, thing, char)", arguments(0.5, 10, 'x')).first, failure::untyped);
  EXPECT_EQ(why_not("bare_listing(double, int, char**)", arguments(0.5, 10, 8L)).first, failure::untyped);
  EXPECT_EQ(why_not("bare_listing(double, int", arguments(0.5, 10)).first, failure::unknown);
}

TEST(registered_kernel, is_called_with_the_types_it_told) {
  call("registered", arguments(0.5, 10, 'x'));
  EXPECT_STREQ(static_cast<const char*>(::dlsym(RTLD_DEFAULT, "registered_seen")), "0.5 10 x");
  const float values[] = {1, 200};
  EXPECT_EQ(call("registered_types", arguments(30.0, 4, values)), 234);
  EXPECT_EQ(why_not("registered", arguments(0.5, 10)).first, failure::mismatch);
  EXPECT_EQ(why_not("registered_unknown", arguments(1L, 1)).first, failure::untyped);
}

TEST(function_of_the_system, is_no_kernel) {
  for (const char* name : {"system", "getpid", "system(const char*)", "free", "MPI_Abort"}) {
    const auto [code, text] = why_not(name, arguments(1L));
    EXPECT_EQ(code, failure::unknown) << name << ": " << text;
  }
  EXPECT_NE(why_not("system", arguments(1L)).second.find("which holds no kernels"), std::string::npos);
  // Registered in a library that nobody has offered: its author wants it to be called.
  EXPECT_EQ(why_not("registered", arguments(0.5, 10, 'x')).first, failure::none);
}

TEST(absent_kernel, is_said_to_be_absent) {
  const auto [code, text] = why_not("no_such_kernel", arguments(1));
  EXPECT_EQ(code, failure::unknown);
  EXPECT_NE(text.find("\"no_such_kernel\""), std::string::npos);
  EXPECT_EQ(why_not("registered_seen", arguments()).first, failure::unknown);
}

}  // namespace
}  // namespace ham::mpix
