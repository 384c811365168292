// What ham-info --check says of limits, services, quotas, launchers and keys.
#include "../../tools/info/checks.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace ham::inline v1::info {
namespace {

TEST(checks, a_limit_is_a_problem_below_what_is_needed) {
  EXPECT_EQ(judge_limit("files", std::nullopt, 10, 20, "raise it").how, verdict::good);
  EXPECT_EQ(judge_limit("files", 20, 10, 20, "raise it").how, verdict::good);
  EXPECT_EQ(judge_limit("files", 19, 10, 20, "raise it").how, verdict::warning);
  const check_result low = judge_limit("files", 9, 10, 20, "raise it");
  EXPECT_EQ(low.how, verdict::problem);
  EXPECT_EQ(low.found, "9");
  EXPECT_EQ(low.advice, "raise it");
}

TEST(checks, services_that_are_missing_say_what_they_are_for) {
  const auto all = judge_services({{"memfd_create", "no (Operation not permitted)", ""},
                                   {"futex_waitv", "no (Function not implemented)", ""},
                                   {"eventfd", "yes", ""},
                                   {"a new one", "no", "its remark"}});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].how, verdict::problem);
  EXPECT_NE(all[0].advice.find("filter"), std::string::npos);
  EXPECT_EQ(all[1].how, verdict::warning);
  EXPECT_EQ(all[2].how, verdict::good);
  EXPECT_EQ(all[3].how, verdict::warning);
  EXPECT_EQ(all[3].advice, "its remark");
}

TEST(checks, every_service_that_is_tried_has_advice) {
  for (const property& one : kernel_services()) {
    const auto judged = judge_services({{one.name, "no", "the remark"}});
    EXPECT_NE(judged.front().advice, "the remark") << one.name;
  }
}

TEST(checks, a_quota_below_the_cores_is_a_warning) {
  EXPECT_EQ(judge_cpu_quota("max 100000", 4).how, verdict::good);
  EXPECT_EQ(judge_cpu_quota("", 4).how, verdict::good);
  EXPECT_EQ(judge_cpu_quota("400000 100000", 4).how, verdict::good);
  const check_result less = judge_cpu_quota("150000 100000", 4);
  EXPECT_EQ(less.how, verdict::warning);
  EXPECT_EQ(less.found, "quota of 1.5 of 4 cores");
  EXPECT_EQ(judge_cpu_quota("1 0", 4).how, verdict::good) << "nonsense";
}

TEST(checks, memory_that_is_left) {
  EXPECT_EQ(judge_memory_limit("max", "123").how, verdict::good);
  EXPECT_EQ(judge_memory_limit("1073741824", "0").how, verdict::good);
  EXPECT_EQ(judge_memory_limit("1073741824", "900000000").how, verdict::warning);
  const check_result full = judge_memory_limit("1048576", "2097152");
  EXPECT_EQ(full.how, verdict::problem);
  EXPECT_EQ(full.found, "0 of 1 MiB left");
}

TEST(checks, a_launcher_has_to_match_the_modules) {
  const std::vector<transport_state> none{{"mpi", false, "no module; install libham-openmpi", {}}};
  const std::vector<transport_state> open{{"mpi", true, {}, "Open MPI 4.1.4"}};
  EXPECT_EQ(judge_launcher("", open).how, verdict::good);
  EXPECT_EQ(judge_launcher("mpirun (Open MPI) 4.1.4\nmore", open).how, verdict::good);
  EXPECT_EQ(judge_launcher("mpirun (Open MPI) 4.1.4\nmore", open).found, "mpirun (Open MPI) 4.1.4");
  const check_result missing = judge_launcher("mpirun (Open MPI) 4.1.4", none);
  EXPECT_EQ(missing.how, verdict::warning);
  EXPECT_NE(missing.advice.find("install libham-openmpi"), std::string::npos);
  EXPECT_EQ(judge_launcher("HYDRA build details:", open).how, verdict::problem);
  EXPECT_EQ(judge_launcher("some launcher 1.0", open).how, verdict::warning);
}

TEST(checks, a_key_is_its_owners) {
  EXPECT_EQ(judge_key_mode("k", 0100600).how, verdict::good);
  EXPECT_EQ(judge_key_mode("k", 0100400).how, verdict::good);
  for (const unsigned mode : {0100640U, 0100604U, 0100620U}) EXPECT_EQ(judge_key_mode("k", mode).how, verdict::problem);
}

TEST(checks, are_printed_with_what_to_do) {
  const std::vector<check_result> all{{"one", verdict::good, "fine", {}},
                                      {"another", verdict::problem, "bad", "mend it"}};
  EXPECT_FALSE(all_well(all));
  std::ostringstream out;
  print_checks(out, all);
  EXPECT_EQ(out.str(),
            "ok       one      fine\nPROBLEM  another  bad\n         -> mend it\n1 problems, 0 warnings, 1 ok\n");
  std::ostringstream json;
  print_checks_json(json, all);
  EXPECT_NE(json.str().find("\"verdict\": \"problem\""), std::string::npos) << json.str();
  EXPECT_NE(json.str().find("\"all_well\": false"), std::string::npos) << json.str();
}

}  // namespace
}  // namespace ham::info
