#include "job/job_trace.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "base/settings.hpp"
#include "base/tracer.hpp"
#include "base/unique_fd.hpp"
#include "ham/offload.hpp"
#include "ham/offload/trace.hpp"
#include "runtime/tracing.hpp"

namespace job_trace_test {

using namespace ham;
namespace fs = std::filesystem;

int traced_job_function(int value) { return value + 1; }

class job_traces : public testing::Test {
 protected:
  job_traces() : folder_(testing::TempDir() + "job_trace." + std::to_string(::getpid())) {
    fs::create_directory(folder_);
  }
  ~job_traces() override {
    base::use_program_settings({});
    fs::remove_all(folder_);
  }
  [[nodiscard]] std::string path() const { return folder_ + "/run.pftrace"; }
  [[nodiscard]] runtime_options options() const {
    runtime_options how;
    how.nodes = "loopback:2";
    how.trace = path();
    return how;
  }
  /// All traces that are there.
  [[nodiscard]] std::string content() const {
    std::string all;
    for (const auto& file : fs::directory_iterator(folder_)) {
      if (file.path().extension() != ".pftrace") continue;
      std::ifstream in(file.path(), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(in), {});
    }
    return all;
  }

  const std::string folder_;
};

TEST_F(job_traces, are_written_at_the_end_of_the_job) {
  {
    runtime rt(options());
    EXPECT_TRUE(base::tracing());
    for (const node_t node : {1, 2}) EXPECT_EQ(offload::sync(node, fn<&traced_job_function>, 1), 2);
    EXPECT_TRUE(content().empty());
  }
  EXPECT_FALSE(base::tracing());
  EXPECT_NE(content().find("traced_job_function"), std::string::npos);
  for (const auto& file : fs::directory_iterator(folder_))
    EXPECT_EQ(file.path().extension(), ".pftrace") << file.path() << " is left";
}

TEST_F(job_traces, are_made_where_somebody_asks_only) {
  runtime_options how = options();
  how.trace.clear();
  { runtime rt(how); }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(job_traces, of_further_jobs_have_files_of_their_own) {
  for (int i = 0; i < 2; ++i) {
    runtime rt(options());
    EXPECT_EQ(offload::sync(1, fn<&traced_job_function>, 1), 2);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(job_traces, that_cannot_be_made_do_not_keep_the_job_from_running) {
  runtime_options how = options();
  how.trace = folder_ + "/no/such/folder/run.pftrace";
  runtime rt(how);
  EXPECT_FALSE(base::tracing());
  EXPECT_EQ(offload::sync(1, fn<&traced_job_function>, 1), 2);
}

TEST_F(job_traces, leave_parts_of_another_job_that_runs_alone) {
  { runtime rt(options()); }
  int number = 1;  // of this process's last trace
  const auto name = [&] { return number == 1 ? path() : folder_ + "/run." + std::to_string(number) + ".pftrace"; };
  while (!fs::exists(name())) ASSERT_LT(++number, 100'000);
  fs::remove(name());
  ++number;
  const std::string parts = detail::folder_of_parts(name());
  fs::create_directory(parts);
  const std::string file = detail::file_of_part(parts, 0);
  const base::unique_fd other(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  { runtime rt(options()); }
  EXPECT_TRUE(fs::exists(file));
  EXPECT_TRUE(content().empty());
}

TEST_F(job_traces, are_not_written_through_links) {
  const std::string parts = detail::folder_of_parts(path());
  fs::create_directory(parts);
  ASSERT_TRUE(detail::start_tracing(0, 22, detail::file_of_part(parts, 0)));
  detail::stop_tracing();
  const std::string other = folder_ + "/other";
  std::ofstream(other) << "of value";
  fs::create_symlink(other, path() + ".part");
  EXPECT_EQ(trace::join(path()).nodes, 1U);
  std::string left;
  std::ifstream(other) >> left;
  EXPECT_EQ(left, "of");
  EXPECT_FALSE(fs::is_symlink(path()));
}

TEST_F(job_traces, of_a_killed_host_are_joined_from_what_is_left) {
  const std::string parts = detail::folder_of_parts(path());
  fs::create_directory(parts);
  ASSERT_TRUE(detail::start_tracing(0, 21, detail::file_of_part(parts, 0)));
  { const trace::span one("before the end"); }
  detail::stop_tracing();
  std::ofstream(detail::file_of_part(parts, 1)) << "no part";
  const trace::contents made = trace::join(path());
  EXPECT_EQ(made.nodes, 1U);
  EXPECT_NE(content().find("before the end"), std::string::npos);
  EXPECT_TRUE(fs::exists(parts)) << "stays";
}

TEST_F(job_traces, without_parts_cannot_be_joined) { EXPECT_THROW(trace::join(path()), config_error); }

TEST_F(job_traces, what_is_no_part_does_not_keep_the_others_waiting) {
  const std::string parts = detail::folder_of_parts(path());
  fs::create_directory(parts);
  ASSERT_TRUE(detail::start_tracing(0, 41, detail::file_of_part(parts, 0)));
  detail::stop_tracing();
  ASSERT_EQ(::mkfifo(detail::file_of_part(parts, 77).c_str(), 0600), 0);
  const std::string empty = detail::file_of_part(parts, 78);
  std::ofstream(empty).close();
  std::error_code too_long_here;
  fs::resize_file(empty, std::uintmax_t{1} << 40U, too_long_here);
  EXPECT_EQ(detail::read_trace_parts(parts, 41).size(), 1U);
}

TEST_F(job_traces, parts_of_other_jobs_are_left_out) {
  const std::string parts = detail::folder_of_parts(path());
  fs::create_directory(parts);
  for (const std::uint64_t job : {31, 32}) {
    ASSERT_TRUE(
        detail::start_tracing(static_cast<node_t>(job), job, detail::file_of_part(parts, static_cast<node_t>(job))));
    detail::stop_tracing();
  }
  EXPECT_EQ(detail::read_trace_parts(parts, 32).size(), 1U);
  EXPECT_EQ(detail::read_trace_parts(parts, 33).size(), 0U);
}

}  // namespace job_trace_test
