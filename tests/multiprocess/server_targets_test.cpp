// Targets that a waiting program has started beside itself (tcp://host:7000/each:shm) are nodes of the whole job.
// link: ham::ham
// timeout: 300
// serial: no
#include "support.hpp"
#include "tcp_server.hpp"

#include "offload/block_crossing.hpp"
#include "offload/calls_between.hpp"

using namespace ham;
using namespace ham::test;

namespace {

pid_t my_parent() { return ::getppid(); }

std::string failure_of(node_t node) {
  try {
    offload::sync(node, [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  } catch (const node_failure& failure) {
    return failure.what();
  }
  return "";
}

std::string problem_of(const std::string& list, const std::string& key) {
  try {
    const runtime refused(with_key(list, key));
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

/// Nodes 1 and 2 wait at one address; 3 and 4 are those of 1, 5 and 6 those of 2; 7 is the host's.
class server_targets : public testing::TestWithParam<std::string> {
 protected:
  const scratch_key key_{'7'};
  server there_{GetParam() == "insecure" ? "" : key_.path(), 2};
  const std::string own_ = GetParam() == "emulated" ? "/each:emulated/each:shm" : "/each:shm:2";
  const node_t second_ = GetParam() == "emulated" ? 4 : 5;  ///< first target of node 2
  runtime rt_{[this] {
    runtime_options options = with_key(there_.nodes() + "*2" + own_ + ",shm:1", key_.path());
    if (GetParam() == "insecure") options.tcp_security = "off";
    return options;
  }()};
};

TEST_P(server_targets, are_children_of_their_program_and_nodes_of_the_job) {
  ASSERT_EQ(offload::num_nodes(), 8U);
  for (node_t node = 3; node < 7; ++node) {
    EXPECT_EQ(offload::sync(node, fn<&offload::this_node>), node);
    const node_t program = GetParam() == "emulated" ? (node + 1) % 2 + 1 : (node - 1) / 2;
    EXPECT_EQ(offload::sync(node, fn<&my_parent>), pid_of(program)) << node;
  }
  for (node_t from = 0; from < 8; ++from) {
    for (node_t to = 0; to < 8; ++to) EXPECT_EQ(offload::sync(from, fn<&pid_of>, to), pid_of(to)) << from << " " << to;
  }
}

TEST_P(server_targets, say_through_whom_they_are_reached) {
  EXPECT_EQ(medium_to(3), "through node 1");
  EXPECT_EQ(medium_to(second_), "through node 2");
  EXPECT_EQ(offload::sync(7, fn<&medium_to>, node_t{3}), "through node 0");
  EXPECT_EQ(offload::sync(3, fn<&medium_to>, node_t{0}), "through node 1");
  EXPECT_EQ(offload::sync(1, fn<&medium_to>, node_t{3}).find("through"), std::string::npos);
}

TEST_P(server_targets, calls_and_memory_between_those_of_different_programs) {
  for (const std::size_t size : {0U, 5'000U, 3'000'000U}) {
    const std::string text(size, 'm');
    EXPECT_EQ(offload::sync(3, fn<&twice_at>, second_, text), text + text) << size;
  }
  EXPECT_EQ(offload::sync(3, fn<&complaint_of>, second_, 7), "code 7");
  EXPECT_EQ(offload::sync(3, fn<&ping_pong>, second_, 20), 20);
  EXPECT_EQ(offload::sync(second_, fn<&batch_of_calls>, node_t{3}, 50), 50 * 51 / 2);
  EXPECT_EQ(offload::sync(7, fn<&calls_of_a_context>, node_t{3}, 50), 50 * 51 / 2);
  auto out = offload::async(3, fn<&many_calls>, second_, 500);
  auto back = offload::async(second_, fn<&many_calls>, node_t{3}, 500);
  EXPECT_EQ(out.get(), 500);
  EXPECT_EQ(back.get(), 500);
  expect_block_crosses(3, second_, 30, 40);
  expect_block_crosses(7, 3, 30, 40);
}

TEST_P(server_targets, are_reached_while_their_program_is_busy) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("ham_busy_" + std::to_string(::getpid()))).string();
  auto busy = offload::async(
      1,
      [](const std::string& name) {
        while (!std::filesystem::exists(name)) std::this_thread::sleep_for(1ms);
      },
      file);
  EXPECT_EQ(offload::sync(3, fn<&twice>, std::string("a")), "aa") << "else neither call ends";
  std::ofstream(file) << "go on\n";
  busy.get();
  std::filesystem::remove(file);
}

TEST_P(server_targets, die_alone_or_with_their_program) {
  const pid_t third = pid_of(3);
  auto pending = offload::async(3, [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  ::kill(third, SIGKILL);
  EXPECT_THROW(pending.get(), node_failure);
  EXPECT_NE(failure_of(3).find("signal 9"), std::string::npos) << failure_of(3);
  EXPECT_EQ(pid_of(1), offload::sync(0, fn<&pid_of>, node_t{1})) << "the others live";
  const pid_t last = pid_of(6);
  ::kill(pid_of(2), SIGKILL);
  EXPECT_NE(failure_of(second_).find("node 2, through which it is reached, is lost"), std::string::npos)
      << failure_of(second_);
  EXPECT_TRUE(eventually([last] { return !alive(last); }));
  EXPECT_EQ(offload::sync(7, fn<&twice>, std::string("b")), "bb");
}

TEST_P(server_targets, are_removed_one_by_one) {
  const pid_t third = pid_of(3);
  offload::remove_node(3);
  EXPECT_TRUE(eventually([third] { return !alive(third); }));
  EXPECT_NE(failure_of(3).find("removed"), std::string::npos) << failure_of(3);
  EXPECT_GT(pid_of(4), 0);
}

INSTANTIATE_TEST_SUITE_P(over, server_targets, testing::Values("secure", "insecure", "emulated"),
                         [](const auto& now) { return now.param; });

TEST(server_targets_of_jobs, end_with_them_and_the_next_job_has_its_own) {
  const scratch_key key('8');
  const server there(key.path());
  for (int job = 0; job < 3; ++job) {
    pid_t own = 0;
    {
      const runtime rt(with_key(there.nodes() + "/each:shm", key.path()));
      own = pid_of(2);
      EXPECT_EQ(offload::sync(2, fn<&my_parent>), pid_of(1));
    }
    EXPECT_TRUE(eventually([own] { return !alive(own); }));
  }
}

TEST(server_targets_of_jobs, are_added_later) {
  const scratch_key key('9');
  const server there(key.path());
  const runtime rt(with_key("shm:1", key.path()));
  const node_t added = offload::add_node(there.nodes() + "/each:shm:2");
  EXPECT_EQ(added, 2);
  ASSERT_EQ(offload::num_nodes(), 5U);
  for (node_t from = 0; from < 5; ++from) {
    for (node_t to = 0; to < 5; ++to) EXPECT_EQ(offload::sync(from, fn<&pid_of>, to), pid_of(to)) << from << " " << to;
  }
  EXPECT_EQ(offload::sync(4, fn<&my_parent>), pid_of(2));
  const pid_t gone = pid_of(4);
  offload::remove_node(added);
  EXPECT_NE(failure_of(4).find("node 2"), std::string::npos) << failure_of(4);
  EXPECT_TRUE(eventually([gone] { return !alive(gone); }));
  EXPECT_GT(offload::sync(1, fn<&my_pid>), 0);
}

TEST(server_targets_that_cannot_be, are_refused_with_the_reason) {
  const scratch_key key('6');
  const server there(key.path(), 1, "127.0.0.1:0", {"HAM_VEO_LIBRARY=/no/such/library.so"});
  const std::string no_library = problem_of(there.nodes() + "/each:veo", key.path());
  EXPECT_NE(no_library.find("no start of target 2 "), std::string::npos) << no_library;
  EXPECT_NE(no_library.find("/no/such/library.so"), std::string::npos) << no_library;
  const std::string exec = problem_of(there.nodes() + "/each:exec:./other", key.path());
  EXPECT_NE(exec.find("a waiting program starts itself as target"), std::string::npos) << exec;
  const runtime rt(with_key(there.nodes() + "/each:shm", key.path()));
  EXPECT_GT(pid_of(2), 0) << "the program waits for the next host";
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
