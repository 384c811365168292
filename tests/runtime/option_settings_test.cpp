// Every setting is an option, a member and a variable, in that order.
#include "runtime/option_settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "ham/error.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/command_line.hpp"
#include "runtime/options.hpp"

namespace ham::inline v1::detail {
namespace {

using base::setting;

class option_settings : public testing::Test {
 protected:
  void SetUp() override {
    for (const base::setting_info& one : base::all_settings()) ::unsetenv(one.variable);
  }
  void TearDown() override {
    SetUp();
    base::use_program_settings({});
  }
  static void take(runtime_options& options, std::vector<std::string> words) {
    words.insert(words.begin(), "app");
    EXPECT_EQ(test::take_options_from(words, options).size(), 1U);
  }
};

/// Another value than the default, and yet another.
struct sample {
  setting which;
  const char* one;
  const char* other;
};
constexpr sample samples[] = {{setting::tcp_security, "off", "force-off"},
                              {setting::tcp_records, "openssl", "ham"},
                              {setting::module_path, "/a", "/b:/c"},
                              {setting::mpi_module, "mpich", "openmpi"},
                              {setting::mpi_pause, "spin", "100"},
                              {setting::mpi_end_timeout, "never", "7"},
                              {setting::mpi_map, "0", "1"},
                              {setting::pool_threads, "3", "4"},
                              {setting::tcp_timeout, "0.125", "12"},
                              {setting::close_timeout, "0.5", "100000"},
                              {setting::start_timeout, "0", "5"},
                              {setting::cuda_linger, "0", "5000"},
                              {setting::unobserved_errors, "ignore", "report"},
                              {setting::veo_library, "liba.so", "libb.so"},
                              {setting::veo_application, "/a.so", "/b.so"},
                              {setting::log, "info", "debug,tcp=off"},
                              {setting::recorder, "off", "on"},
                              {setting::trace, "run.pftrace", "other.pftrace"},
                              {setting::metrics, "9464", "9465"},
                              {setting::output, "lines", "/tmp/lines"},
                              {setting::fault, "f:request:0", "*:reply=5ms:0.5:7"}};

void expect_now(setting which, const char* value) {
  const base::setting_info& about = base::info_of(which);
  EXPECT_EQ(base::number_of(which), base::parse_setting(which, value, "here")) << about.variable;
  if (about.kind == base::setting_kind::text) {
    EXPECT_EQ(base::text_of(which), value) << about.variable;
  }
}

TEST_F(option_settings, the_program_goes_before_the_environment) {
  for (const sample& each : samples) {
    const base::setting_info& about = base::info_of(each.which);
    runtime_options options;
    options.nodes = "none";
    take_setting(options, each.which, each.one, "here");
    ::setenv(about.variable, each.other, 1);
    use_settings(options);
    expect_now(each.which, each.one);
    use_settings({});
    EXPECT_EQ(base::text_of(each.which), each.other) << about.variable << ": nobody says anything now";
    ::unsetenv(about.variable);
  }
}

TEST_F(option_settings, the_command_line_goes_before_the_program) {
  for (const sample& each : samples) {
    const base::setting_info& about = base::info_of(each.which);
    runtime_options options;
    options.nodes = "none";
    take_setting(options, each.which, each.one, "here");
    take(options, {base::option_of(about) + "=" + each.other});
    expect_now(each.which, each.other);
  }
}

TEST_F(option_settings, of_one_runtime_go_the_same_way) {
  ::setenv("HAM_PROGRESS_THREAD", "1", 1);
  ::setenv("HAM_MAX_MESSAGE", "8M", 1);
  runtime_options options;
  take(options, {});
  EXPECT_TRUE(options.progress_thread);
  EXPECT_EQ(options.max_message, 0U) << "each node reads the variable itself";
  take(options, {"--ham-progress-thread=0", "--ham-max-message=4M"});
  EXPECT_FALSE(options.progress_thread);
  EXPECT_EQ(options.max_message, std::size_t{4} << 20);
}

TEST_F(option_settings, errors_say_where_a_value_is_from) {
  const auto problem = [](const auto& act) {
    try {
      act();
    } catch (const config_error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  runtime_options options;
  options.tcp_timeout = std::chrono::milliseconds(10);
  EXPECT_EQ(problem([&] { fill_from_environment(options); }),
            "runtime_options::tcp_timeout=0.010 is no number of seconds from 0.1 to 3600");
  options.tcp_timeout = std::chrono::milliseconds(-500);
  EXPECT_NE(problem([&] { fill_from_environment(options); }), "none");
  options = {};
  EXPECT_EQ(problem([&] {
              take(options, {"--ham-tcp-timeout", "1h"});
            }),
            "--ham-tcp-timeout=1h is no number of seconds from 0.1 to 3600");
  ::setenv("HAM_TCP_TIMEOUT", "1h", 1);
  EXPECT_EQ(problem([&] { fill_from_environment(options); }),
            "HAM_TCP_TIMEOUT=1h is no number of seconds from 0.1 to 3600");
}

TEST_F(option_settings, the_pool_may_be_there_already) {
  msg::thread_pool& pool = msg::thread_pool::process();
  const std::size_t before = pool.size();
  runtime_options options;
  options.pool_threads = before + 1;
  use_settings(options);
  EXPECT_EQ(pool.size(), before + 1);
  options.pool_threads = 5000;
  EXPECT_THROW(use_settings(options), config_error);
  pool.resize(before);
}

/// Members may be named when a runtime is started.
TEST_F(option_settings, members_can_be_initialised_by_name) {
  const runtime_options options{.nodes = "none", .jobs = 2, .pool_threads = 3, .tcp_timeout = std::chrono::seconds(5)};
  EXPECT_EQ(options.tcp_timeout, std::chrono::milliseconds(5000));
  EXPECT_EQ(options.pool_threads, 3U);
  const runtime_options as_ever{"shm:2", "", "none", true, "key", "", 1, true, 0, true};
  EXPECT_TRUE(as_ever.plain_output);
}

}  // namespace
}  // namespace ham::detail
