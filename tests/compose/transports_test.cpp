// What every transport of the list has to say of itself.
#include "compose/transports.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "ham/error.hpp"
#include "job/node_list.hpp"
#include "transport/launched_factory.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::detail {
namespace {

using transport::factory;

TEST(transports, have_names_of_their_own_that_begin_their_groups) {
  std::set<std::string_view> names;
  for (const factory* const one : transports()) {
    EXPECT_TRUE(names.insert(one->name()).second) << one->name();
    EXPECT_TRUE(one->prefix().starts_with(one->name())) << one->name();
    EXPECT_EQ(find_transport(one->name()), one);
    EXPECT_EQ(one->help().syntax.empty(), one->help().meaning.empty()) << one->name();
    if (!one->help().syntax.empty()) {
      EXPECT_TRUE(one->help().syntax.starts_with(one->prefix())) << one->name();
    }
  }
  EXPECT_EQ(find_transport("smoke_signals"), nullptr);
}

TEST(transports, read_what_they_propose_themselves) {
  for (const factory* const one : transports()) {
    const std::string examples(one->example());
    for (std::size_t begin = 0; begin < examples.size();) {
      const std::size_t end = std::min(examples.find(" or ", begin), examples.size());
      const auto groups = parse_nodes(examples.substr(begin, end - begin));
      ASSERT_EQ(groups.size(), 1U) << examples;
      EXPECT_EQ(groups[0].by, one) << examples;
      begin = end + 4;
    }
    for (const std::string& nodes : {one->trial(), one->default_nodes()}) {
      if (nodes.empty()) continue;
      const auto groups = parse_nodes(nodes);
      EXPECT_TRUE(groups.size() == 1 && groups[0].by == one) << nodes;
    }
    if (!one->trial().empty()) {
      EXPECT_EQ(parse_nodes(one->trial())[0].count, 1U) << one->name();
    }
  }
}

TEST(transports, are_proposed_when_a_group_is_of_none) {
  try {
    static_cast<void>(parse_nodes("smoke_signals:2"));
    ADD_FAILURE();
  } catch (const config_error& problem) {
    const std::string text = problem.what();
    for (const factory* const one : transports()) {
      if (one->help().syntax.empty()) continue;
      EXPECT_NE(text.find(one->prefix()), std::string::npos) << text;
      EXPECT_NE(text.find(one->example()), std::string::npos) << text;
    }
  }
}

TEST(transports, are_in_the_dictionary_of_the_fuzzer) {
  std::ifstream file(HAM_SOURCE "/fuzz/node_list.dict");
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  const std::string_view elsewhere = HAM_EXTRA_TRANSPORT_NAMES;  // whose folders are not the fuzzer's
  for (const factory* const one : transports()) {
    if (elsewhere.find(" " + std::string(one->name()) + " ") != std::string_view::npos) continue;
    EXPECT_NE(words.find("\"" + std::string(one->prefix()) + "\""), std::string::npos) << one->name();
  }
}

TEST(transports, have_one_for_each_of_these_purposes) {
  EXPECT_TRUE(program_starter().starts_programs());
  EXPECT_NE(program_starter().as_starting(), nullptr);
  EXPECT_EQ(network_transport().as_network(), &network_transport());
  EXPECT_EQ(launched_transport().as_launched(), &launched_transport());
  EXPECT_FALSE(launched_transport().help().syntax.empty()) << "users can name it";
}

TEST(transports, one_is_the_default) {
  std::size_t defaults = 0;
  for (const factory* const one : transports()) {
    if (one->as_launched() == nullptr && !one->default_nodes().empty()) ++defaults;
  }
  EXPECT_EQ(defaults, 1U);
}

}  // namespace
}  // namespace ham::detail
