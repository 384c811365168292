// Checkpoints and pictures of the shallow water example.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "shallow_water/checkpoint.hpp"
#include "shallow_water/frame.hpp"

namespace {

namespace sw = shallow_water;

class shallow_water_files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ham-shallow-water-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::string file(const char* name) const { return (folder / name).string(); }
  static std::string content(const std::string& of) {
    std::ifstream in(of, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// What reading `bytes` as a checkpoint says.
  std::string refusal(const std::string& bytes) {
    std::ofstream(file("bad"), std::ios::binary) << bytes;
    try {
      (void)sw::read_checkpoint(file("bad"));
    } catch (const sw::file_error& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path folder;
  const sw::domain basin{7, 5};
};

TEST_F(shallow_water_files, a_checkpoint_comes_back) {
  const sw::checkpoint written{basin, 123, sw::initial_state(basin)};
  sw::write_checkpoint(file("one"), {basin, 1, written.state});
  sw::write_checkpoint(file("one"), written);
  const sw::checkpoint read = sw::read_checkpoint(file("one"));
  EXPECT_EQ(read.of.columns, 7u);
  EXPECT_EQ(read.of.rows, 5u);
  EXPECT_EQ(read.step, 123u);
  EXPECT_EQ(read.state, written.state);
  EXPECT_FALSE(std::filesystem::exists(file("one.new")));
}

TEST_F(shallow_water_files, damage_anywhere_is_found) {
  sw::write_checkpoint(file("one"), {basin, 9, sw::initial_state(basin)});
  const std::string good = content(file("one"));
  EXPECT_EQ(refusal(good), "none");
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    EXPECT_NE(refusal(bad), "none") << at;
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{39}, std::size_t{40}, good.size() - 1}) {
    EXPECT_NE(refusal(good.substr(0, length)), "none") << length;
  }
  EXPECT_NE(refusal(good + "x"), "none");
}

TEST_F(shallow_water_files, what_cannot_be_opened_is_named) {
  EXPECT_THROW((void)sw::read_checkpoint(file("none")), sw::file_error);
  EXPECT_THROW(sw::write_checkpoint(file("none/one"), {basin, 0, sw::initial_state(basin)}), sw::file_error);
  EXPECT_THROW(sw::write_frame(file("none/one"), basin, sw::initial_state(basin)), sw::file_error);
}

TEST_F(shallow_water_files, a_picture_has_a_pixel_per_cell) {
  const std::vector<double> state = sw::initial_state(basin);
  const auto pixels = sw::pixels_of(basin, state);
  ASSERT_EQ(pixels.size(), 3u * 7 * 5);
  std::vector<double> dent = state;
  dent[1] = 0.5;  // the cell at the bottom left
  const auto changed = sw::pixels_of(basin, dent);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    EXPECT_EQ(changed[i] != pixels[i], i / 3 == 28 && changed[i] != pixels[i]);
  EXPECT_NE(changed, pixels);

  sw::write_frame(file("picture"), basin, state);
  const std::string bytes = content(file("picture"));
  const std::string signature = std::string(sw::frame_format()) == "png" ? "\x89PNG\r\n" : "P6\n7 5\n255\n";
  EXPECT_EQ(bytes.substr(0, signature.size()), signature);
}

}  // namespace
