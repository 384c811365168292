// Modules that are part of the program, and those that are nowhere.
#include "transport/common/network_modules.hpp"

#include <gtest/gtest.h>

#include "ham/error.hpp"

namespace ham::inline v1::transport {
namespace {

class played_module final : public network_module {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "played"; }
  [[nodiscard]] std::string why_insecure() const override { return {}; }
  [[nodiscard]] std::string secured_by(tls_records) const override { return {}; }
  [[nodiscard]] std::unique_ptr<network> open(const network_options&, base::heap*, observer&) override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<listener> listen(const listen_options&) override { return nullptr; }
};

TEST(network_modules, of_the_program_are_looked_for_in_no_file) {
  static played_module module;  // known until the process ends
  add_network_module(module);
  EXPECT_EQ(&load_network_module("played"), &module);
  EXPECT_EQ(&load_network_module("played"), &module);
}

TEST(network_modules, that_are_nowhere_are_told_each_time) {
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(load_network_module("smoke_signals"));
      ADD_FAILURE();
    } catch (const config_error& problem) {
      EXPECT_TRUE(std::string(problem.what())
                      .starts_with("the transport smoke_signals is not there (module libham_smoke_signals.so; "))
          << problem.what();
    }
  }
}

}  // namespace
}  // namespace ham::transport
