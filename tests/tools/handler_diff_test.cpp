// Comparing binaries: what their manifests say, how it is printed, and how they are read.
#include "../../tools/info/handler_diff.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "../../tools/info/handler_listing.hpp"

namespace ham::inline v1::info {
namespace {

using entries = std::vector<msg::manifest::entry>;

described_binary binary(const char* path, entries what, msg::data_layout data = msg::data_layout::local()) {
  return {path, msg::manifest(data, std::move(what))};
}
msg::manifest::entry call(const char* name, const char* layout) {
  return {name, layout, msg::handler_kind::call, false};
}

TEST(handler_diff, alike) {
  const entries both{call("f", "empty,i4->i4"), call("g", "empty->void")};
  const handler_diff found = compare(binary("./a", both), binary("./b", both));
  EXPECT_TRUE(found.same());
  EXPECT_EQ(found.equal, 2U);
}

TEST(handler_diff, what_differs_is_shown) {
  const handler_diff found = compare(binary("./a", {call("f", "empty,i4->i4"), call("gone", "empty->void")}),
                                     binary("./b", {call("f", "empty,i8->i4"), call("new", "empty->void")}));
  EXPECT_FALSE(found.same());
  std::ostringstream text;
  print_diff(text, found);
  for (const char* part :
       {"only in ./a", "- call gone", "only in ./b", "+ call new", "! call f", "empty,i4->i4", "empty,i8->i4",
        "argument 1 is i4 on ./a and i8 on ./b", "0 equal, 1 only in the first, 1 only in the second, 1 refused"}) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part << " in\n" << text.str();
  }
  std::ostringstream json;
  print_diff_json(json, found);
  EXPECT_NE(json.str().find("argument 1 is i4 on ./a"), std::string::npos) << json.str();
}

TEST(handler_diff, objects_of_other_processors) {
  const entries both{call("f", "empty,opaque<x,16,8>->void"), call("g", "empty,object<y,8,4:i4@0,i4@4>->void")};
  msg::data_layout other = msg::data_layout::local();
  other.long_double_digits ^= 1;
  const handler_diff found = compare(binary("./a", both), binary("./b", both, other));
  ASSERT_EQ(found.refused.size(), 1U);
  EXPECT_EQ(found.refused[0].name, "f");
  EXPECT_EQ(found.equal, 1U);
  EXPECT_NE(found.first_data.find("mantissa bits"), std::string::npos);
}

TEST(manifest_line, among_other_output) {
  const msg::manifest content = binary("", {call("f", "empty,i4->i4")}).content;
  std::string line = "ham-manifest: ";
  for (const std::byte one : content.serialise()) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(one));
    line += digits;
  }
  EXPECT_EQ(parse_manifest_line("noise\n" + line + "\nmore\n").id(), content.id());
  EXPECT_EQ(parse_manifest_line(line).id(), content.id());
  EXPECT_THROW((void)parse_manifest_line("noise\n"), std::runtime_error);
  EXPECT_THROW((void)parse_manifest_line("ham-manifest: 48zz"), std::runtime_error);
  EXPECT_THROW((void)parse_manifest_line(line.substr(0, line.size() - 8)), std::exception);
}

}  // namespace
}  // namespace ham::info
