// Who is a rank of MPI, by the words of launchers.
#include "transport/mpi/factory_module.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <map>
#include <optional>
#include <string>

#include "ham/error.hpp"
#include "transport/groups.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

/// Without a launcher, whoever has started the test.
class launchers : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : names) {
      const char* const value = ::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      if (value)
        ::setenv(name, value->c_str(), 1);
      else
        ::unsetenv(name);
    }
  }

 private:
  static constexpr std::array names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                    "HAM_MPI_RANK_PID",     "HAM_MPI_MODULE"};
  std::map<const char*, std::optional<std::string>> before_;
};

TEST_F(launchers, say_who_is_a_rank) {
  const factory& mpi = test::transport_named("mpi");
  EXPECT_FALSE(started_by_mpi());
  EXPECT_EQ(mpi.default_nodes(), "");
  ::setenv("PMI_RANK", "0", 1);
  EXPECT_FALSE(started_by_mpi()) << "others set that, too";
  ::setenv("PMI_SIZE", "2", 1);
  EXPECT_TRUE(started_by_mpi());
  EXPECT_EQ(mpi.default_nodes(), "mpi");
  ::unsetenv("PMI_RANK");
  EXPECT_FALSE(started_by_mpi());
  ::setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  EXPECT_TRUE(started_by_mpi());
}

TEST_F(launchers, do_not_mean_what_a_rank_starts) {
  ::setenv("PMIX_RANK", "1", 1);
  ::setenv("HAM_MPI_RANK_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_TRUE(started_by_mpi());
  ::setenv("HAM_MPI_RANK_PID", std::to_string(::getppid()).c_str(), 1);
  EXPECT_FALSE(started_by_mpi());
}

TEST_F(launchers, module_that_is_named_is_the_one) {
  ::setenv("HAM_MPI_MODULE", "/nowhere/libham_mpi_mine.so", 1);
  try {
    static_cast<void>(load_group_module());
    ADD_FAILURE();
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("/nowhere/libham_mpi_mine.so"), std::string::npos) << problem.what();
  }
}

}  // namespace
}  // namespace ham::transport::mpi
