// Debug builds say so when a call sends an address on the caller's stack; compilers cannot see these.
// link: ham::ham
#define HAM_CHECK_ADDRESSES 1
#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

/// Has a pointer that nothing but its bytes shows: without a constexpr constructor there is no constant of it.
class holder {
 public:
  holder() noexcept {}
  explicit holder(const int* what) : what_(what) {}
  [[nodiscard]] bool empty() const { return before_ == 0.0 && what_ == nullptr; }

 private:
  double before_ = 0.0;
  const int* what_ = nullptr;
};

/// Between its members there is room for an old address.
class gap {
 public:
  gap() = default;
  [[nodiscard]] double sum() const { return small_ + large_; }

 private:
  char small_ = 1;
  double large_ = 2.0;
};

bool is_empty(holder one) { return one.empty(); }
double sum_of(gap one) { return one.sum(); }

int run_in_job(int (*scenario)()) {
  runtime rt(runtime_options{});
  return scenario();
}

int in_argument() {
  return run_in_job([] {
    const int local = 5;
    for (int i = 0; i < 2; ++i) {
      if (offload::sync(1, fn<&is_empty>, holder(&local))) return 1;
    }
    return 0;
  });
}

int in_capture() {
  return run_in_job([] {
    const int local = 5;
    const holder one(&local);
    return offload::sync(1, [one] { return one.empty(); }) ? 1 : 0;
  });
}

int in_batch() {
  return run_in_job([] {
    const int local = 5;
    offload::batch together(1);
    auto result = together.add(fn<&is_empty>, holder(&local));
    return result.get() ? 1 : 0;
  });
}

int nowhere() {
  return run_in_job([] {
    const int local = 5;
    if (!offload::sync(1, fn<&is_empty>, holder())) return 1;
    if (offload::sync(0, fn<&is_empty>, holder(&local))) return 2;  // its own node knows the address
    return offload::sync(1, fn<&sum_of>, gap()) == 3.0 ? 0 : 3;
  });
}

const scenario scenarios[] = {
    {"in_argument", in_argument}, {"in_capture", in_capture}, {"in_batch", in_batch}, {"nowhere", nowhere}};

std::size_t times_said(const std::string& text) {
  std::size_t times = 0;
  for (auto at = text.find("on this thread's stack"); at != std::string::npos;
       at = text.find("on this thread's stack", at + 1))
    ++times;
  return times;
}

TEST(address_check, says_once_which_argument_holds_one) {
  if (!detail::can_check_addresses<holder>) GTEST_SKIP() << "this compiler cannot clear padding";
  const std::string text = output_of("in_argument");
  EXPECT_EQ(times_said(text), 1U) << text;
  EXPECT_NE(text.find("holder in a call to node 1 holds, 8 bytes from its beginning"), std::string::npos) << text;
}

TEST(address_check, covers_captures_and_batches) {
  if (!detail::can_check_addresses<holder>) GTEST_SKIP() << "this compiler cannot clear padding";
  EXPECT_EQ(times_said(output_of("in_capture")), 1U);
  EXPECT_EQ(times_said(output_of("in_batch")), 1U);
}

TEST(address_check, is_silent_about_all_else) { EXPECT_EQ(output_of("nowhere"), ""); }

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
