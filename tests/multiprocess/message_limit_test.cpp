// The limit on one message, between processes: too much is an error for whoever sends it, and harms nothing.
// link: ham::ham
#include <atomic>
#include <numeric>

#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

constexpr std::size_t limit = std::size_t{2} << 20;

std::size_t length(const std::string& text) { return text.size(); }
std::string text_of(std::size_t length) { return std::string(length, 'x'); }
void complain(std::size_t length) { throw std::domain_error(std::string(length, 'x')); }

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const call_error& problem) {
    return problem.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

class message_limit : public testing::Test {
 protected:
  void SetUp() override { ::setenv("HAM_MAX_MESSAGE", "2M", 1); }
  void TearDown() override { ::unsetenv("HAM_MAX_MESSAGE"); }
};

TEST_F(message_limit, holds_for_arguments_and_results) {
  const runtime rt(nodes("shm:1"));
  const std::string much(limit - 100, 'y');
  const std::string too_much(limit + 1, 'y');
  EXPECT_EQ(offload::sync(1, fn<&length>, much), much.size());
  EXPECT_EQ(offload::sync(1, fn<&text_of>, much.size()).size(), much.size());
  for (int i = 0; i < 3; ++i) {
    const std::string why = refusal([&] { offload::sync(1, fn<&length>, too_much); });
    EXPECT_NE(why.find("length"), std::string::npos) << why;
    EXPECT_NE(why.find("HAM_MAX_MESSAGE"), std::string::npos) << why;
    EXPECT_NE(why.find(std::to_string(limit)), std::string::npos) << why;
    const std::string back = refusal([&] { offload::sync(1, fn<&text_of>, too_much.size()); });
    EXPECT_NE(back.find("the result of"), std::string::npos) << back;
    try {
      offload::sync(1, fn<&complain>, too_much.size());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::domain_error& shortened) {
      EXPECT_NE(std::string(shortened.what()).find("xxx [cut off, it has " + std::to_string(too_much.size())),
                std::string::npos);
    }
  }
  offload::context queue(1);
  refusal([&] { (void)offload::async(queue, fn<&length>, too_much).get(); });
  EXPECT_EQ(offload::sync(1, fn<&length>, much), much.size());
}

std::atomic<bool> all_sent{false};
void go_on() { all_sent = true; }
std::size_t length_when_all_are_sent(const std::string& text) {
  while (!all_sent) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return text.size();
}

TEST_F(message_limit, what_waits_for_a_context_is_bounded) {
  const runtime rt(nodes("shm:1"));
  offload::context queue(1);
  const std::string text(limit / 2, 'y');
  std::vector<offload::future<std::size_t>> waiting;
  waiting.push_back(offload::async(queue, fn<&length_when_all_are_sent>, text));
  for (int i = 0; i < 60; ++i) waiting.push_back(offload::async(queue, fn<&length>, text));
  offload::sync(1, fn<&go_on>);  // behind them
  int done = 0;
  for (auto& one : waiting) {
    try {
      done += one.get() == text.size() ? 1 : 0;
    } catch (const call_error& problem) {
      EXPECT_NE(std::string(problem.what()).find("too many calls wait"), std::string::npos) << problem.what();
    }
  }
  EXPECT_GE(done, 30);
  EXPECT_LT(done, 61) << "more than 32 MiB of calls were kept";
  EXPECT_EQ(offload::async(queue, fn<&length>, text).get(), text.size()) << "there is room again";
}

TEST_F(message_limit, holds_for_a_batch_but_not_for_all_its_results_together) {
  const runtime rt(nodes("shm:1"));
  offload::batch many(1);
  std::vector<offload::future<std::string>> results;
  for (int i = 0; i < 10; ++i) results.push_back(many.add(fn<&text_of>, limit / 3));
  results.push_back(many.add(fn<&text_of>, 2 * limit));
  results.push_back(many.add(fn<&text_of>, limit - 100));
  many.submit();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(results[i].get().size(), limit / 3);
  EXPECT_THROW((void)results[10].get(), call_error);
  EXPECT_EQ(results[11].get().size(), limit - 100);

  offload::batch fat(1);
  std::vector<offload::future<std::size_t>> lengths;
  for (int i = 0; i < 3; ++i) lengths.push_back(fat.add(fn<&length>, std::string(limit / 2, 'z')));
  fat.submit();
  for (auto& one : lengths) EXPECT_THROW((void)one.get(), call_error);
  EXPECT_EQ(offload::sync(1, fn<&length>, std::string("still there")), 11U);
}

TEST_F(message_limit, bulk_data_has_none) {
  for (const bool one_sided : {true, false}) {
    runtime_options options = nodes("shm:1");
    options.one_sided = one_sided;
    const runtime rt(options);
    std::vector<double> here(limit);
    std::iota(here.begin(), here.end(), 0.0);
    const offload::buffer<double> there(1, here.size());
    offload::put_sync(here.data(), there.ptr(), here.size());
    std::vector<double> back(here.size());
    offload::get_sync(there.ptr(), back.data(), back.size());
    EXPECT_EQ(back, here);
  }
}

TEST_F(message_limit, is_the_receivers) {
  ::setenv("HAM_MAX_MESSAGE", "16M", 1);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const runtime rt(nodes("shm:1,exec:env HAM_MAX_MESSAGE=4M '" + program + "'"));
  EXPECT_EQ(offload::sync(1, fn<&length>, std::string(7 * limit, 'a')), 7 * limit);
  EXPECT_NE(refusal([&] { offload::sync(2, fn<&length>, std::string(7 * limit, 'a')); }).find("node 2"),
            std::string::npos);
  EXPECT_EQ(offload::sync(2, fn<&text_of>, 7 * limit).size(), 7 * limit);
}

TEST_F(message_limit, nonsense_is_refused_at_the_start) {
  ::setenv("HAM_MAX_MESSAGE", "much", 1);
  EXPECT_THROW(const runtime rt(nodes("shm:1")), config_error);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
