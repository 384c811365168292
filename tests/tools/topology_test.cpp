// Tests of the kinds of core pairs behind ham-bench --cores, on machines that are folders of files.
#include "../../tools/bench/topology.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace ham::bench;

/// A folder like /sys/devices/system/cpu.
class described_machine : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ham-topology-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void add(int cpu, const std::string& siblings, const std::string& l2, const std::string& l3, int socket) {
    const std::filesystem::path at = folder_ / ("cpu" + std::to_string(cpu));
    write(at / "topology/thread_siblings_list", siblings);
    write(at / "topology/physical_package_id", std::to_string(socket));
    cache(at / "cache/index0", "1", "Data", siblings);
    cache(at / "cache/index1", "1", "Instruction", siblings);
    cache(at / "cache/index2", "2", "Unified", l2);
    if (!l3.empty()) cache(at / "cache/index3", "3", "Unified", l3);
    cpus_.push_back(cpu);
  }
  [[nodiscard]] topology machine() const { return topology(cpus_, folder_.string()); }

  /// Two sockets with two L3 of two cores each, every core with two threads: CPUs 0 to 7 are the first threads.
  void add_large_machine() {
    for (int cpu = 0; cpu < 16; ++cpu) {
      const int core = cpu % 8;
      const int first = core / 2 * 2;
      const std::string threads = std::to_string(core) + "," + std::to_string(core + 8);
      const std::string l3 = std::to_string(first) + "-" + std::to_string(first + 1) + "," + std::to_string(first + 8) +
                             "-" + std::to_string(first + 9);
      add(cpu, threads, threads, l3, core / 4);
    }
  }

  std::vector<int> cpus_;
  std::filesystem::path folder_;

 private:
  static void write(const std::filesystem::path& file, const std::string& line) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << line << '\n';
  }
  static void cache(const std::filesystem::path& at, const char* level, const char* type, const std::string& shared) {
    write(at / "level", level);
    write(at / "type", type);
    write(at / "shared_cpu_list", shared);
  }
};

TEST(cpu_list, ranges_and_single_numbers) {
  EXPECT_EQ(read_cpu_list("0-3,8,10-11"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(read_cpu_list("5"), (std::vector<int>{5}));
  EXPECT_EQ(read_cpu_list("8,0"), (std::vector<int>{0, 8}));
  EXPECT_TRUE(read_cpu_list("").empty());
  EXPECT_TRUE(read_cpu_list("none").empty());
  EXPECT_TRUE(read_cpu_list("3-1").empty());
}

TEST_F(described_machine, every_kind_of_a_large_one) {
  add_large_machine();
  const topology found = machine();
  EXPECT_EQ(found.kind_of(3, 3), pair_kind::one_cpu);
  EXPECT_EQ(found.kind_of(0, 8), pair_kind::siblings);
  EXPECT_EQ(found.kind_of(0, 1), pair_kind::same_l3);
  EXPECT_EQ(found.kind_of(1, 8), pair_kind::same_l3);
  EXPECT_EQ(found.kind_of(1, 2), pair_kind::other_l3);
  EXPECT_EQ(found.kind_of(3, 4), pair_kind::other_socket);
  EXPECT_EQ(found.kind_of(0, 99), pair_kind::unknown);
  EXPECT_EQ(found.kinds(), (std::vector<pair_kind>{pair_kind::siblings, pair_kind::same_l3, pair_kind::other_l3,
                                                   pair_kind::other_socket}));
}

TEST_F(described_machine, cores_that_share_an_l2) {
  add(0, "0", "0-1", "", 0);
  add(1, "1", "0-1", "", 0);
  add(2, "2", "2", "", 0);
  EXPECT_EQ(machine().kind_of(0, 1), pair_kind::same_l2);
  EXPECT_EQ(machine().kind_of(0, 2), pair_kind::other_l3);
}

TEST_F(described_machine, the_best_pair_is_of_two_cores_near_each_other) {
  add(0, "0-1", "0-1", "0-3", 0);
  EXPECT_EQ(machine().best().host, 0);
  EXPECT_EQ(machine().best().target, 0) << "there is one only";
  add(1, "0-1", "0-1", "0-3", 0);
  EXPECT_EQ(machine().best().target, 1) << "there are siblings only";
  add(4, "4-5", "4-5", "4-7", 1);
  EXPECT_EQ(machine().best().target, 4) << "another socket before siblings";
  add(2, "2-3", "2-3", "0-3", 0);
  EXPECT_EQ(machine().best().host, 0);
  EXPECT_EQ(machine().best().target, 2);
}

TEST_F(described_machine, pairs_are_chosen_by_number_or_kind) {
  add_large_machine();
  const auto chosen = [this](const char* text) {
    const core_pair pair = machine().choose(text);
    return std::vector<int>{pair.host, pair.target};
  };
  EXPECT_EQ(chosen("5,2"), (std::vector<int>{5, 2}));
  EXPECT_EQ(chosen("4,4"), (std::vector<int>{4, 4}));
  EXPECT_EQ(chosen("siblings"), (std::vector<int>{0, 8}));
  EXPECT_EQ(chosen("same-l3"), (std::vector<int>{0, 1}));
  EXPECT_EQ(chosen("other-l3"), (std::vector<int>{0, 2}));
  EXPECT_EQ(chosen("other-socket"), (std::vector<int>{0, 4}));
}

TEST_F(described_machine, what_it_has_not_is_refused_with_what_it_has) {
  add_large_machine();
  for (const char* text : {"same-l2", "0,16", "1", "0,1,2", "-1,0", "a,b", "", "unknown"}) {
    try {
      (void)machine().choose(text);
      FAIL() << text;
    } catch (const std::invalid_argument& refused) {
      EXPECT_NE(std::string(refused.what()).find("siblings, same-l3, other-l3, other-socket"), std::string::npos)
          << refused.what();
    }
  }
}

TEST_F(described_machine, nothing_is_claimed_of_cpus_that_are_not_described) {
  cpus_ = {0, 1};
  EXPECT_EQ(machine().kind_of(0, 1), pair_kind::unknown);
  EXPECT_THROW((void)machine().choose("siblings"), std::invalid_argument);
}

TEST(topology_of_this_machine, every_pair_found_is_of_its_kind) {
  std::vector<int> cpus = allowed_cores();
  const topology here(cpus);
  for (const pair_kind kind : here.kinds()) {
    const auto pair = here.find(kind);
    ASSERT_TRUE(pair);
    EXPECT_EQ(here.kind_of(*pair), kind);
    EXPECT_NE(pair->host, pair->target);
  }
}

}  // namespace
