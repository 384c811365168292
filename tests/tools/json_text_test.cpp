// The JSON of ham-info.
#include "../../tools/info/json_text.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

namespace ham::inline v1::info {
namespace {

std::string written(std::string_view text) {
  std::ostringstream out;
  json_text(out).value("", std::string(text));
  return out.str();
}

TEST(json_text, texts_are_quoted) {
  EXPECT_EQ(written("a \"b\" \\"), R"("a \"b\" \\")");
  EXPECT_EQ(written(std::string_view("\n\x1f\0", 3)), R"("\u000a\u001f\u0000")");
}

TEST(json_text, characters_stay_and_bytes_that_are_none_are_replaced) {
  constexpr std::string_view characters = "\u00e4\u07ff\u0800\ud7ff\uffff\U00010000\U0010ffff";
  EXPECT_EQ(written(characters), '"' + std::string(characters) + '"');
  EXPECT_EQ(written("shm:\xff"), R"("shm:\ufffd")");
  EXPECT_EQ(written("Gr\xf6\xdf"
                    "e"),
            R"("Gr\ufffd\ufffde")");
  EXPECT_EQ(written("cut \xe2\x82"), R"("cut \ufffd\ufffd")");
  EXPECT_EQ(written("\xc0\x80"), R"("\ufffd\ufffd")") << "longer than needed";
  EXPECT_EQ(written("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "half of a pair";
  EXPECT_EQ(written("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "above the last one";
}

}  // namespace
}  // namespace ham::info
