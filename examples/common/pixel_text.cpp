// SPDX-License-Identifier: BSD-3-Clause
#include "pixel_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace common {
namespace {

constexpr unsigned glyph_width = 5;
constexpr unsigned glyph_height = 8;  // the last row is below the line

/// A character, and its rows from the top.
struct glyph {
  char name;
  std::array<const char*, glyph_height> rows;
};

constexpr glyph glyphs[] = {
    {' ', {"     ", "     ", "     ", "     ", "     ", "     ", "     ", "     "}},
    {'0', {" ### ", "#   #", "#   #", "# # #", "#   #", "#   #", " ### ", "     "}},
    {'1', {"  #  ", " ##  ", "# #  ", "  #  ", "  #  ", "  #  ", "#####", "     "}},
    {'2', {" ### ", "#   #", "    #", "  ## ", " #   ", "#    ", "#####", "     "}},
    {'3', {" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### ", "     "}},
    {'4', {"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # ", "     "}},
    {'5', {"#####", "#    ", "#### ", "    #", "    #", "#   #", " ### ", "     "}},
    {'6', {" ### ", "#    ", "#    ", "#### ", "#   #", "#   #", " ### ", "     "}},
    {'7', {"#####", "    #", "   # ", "   # ", "  #  ", "  #  ", "  #  ", "     "}},
    {'8', {" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### ", "     "}},
    {'9', {" ### ", "#   #", "#   #", " ####", "    #", "    #", " ### ", "     "}},
    {'+', {"     ", "  #  ", "  #  ", "#####", "  #  ", "  #  ", "     ", "     "}},
    {'-', {"     ", "     ", "     ", "#####", "     ", "     ", "     ", "     "}},
    {'.', {"     ", "     ", "     ", "     ", "     ", " ##  ", " ##  ", "     "}},
    {'=', {"     ", "     ", "#####", "     ", "#####", "     ", "     ", "     "}},
    {'_', {"     ", "     ", "     ", "     ", "     ", "     ", "#####", "     "}},
    {'/', {"    #", "    #", "   # ", "  #  ", " #   ", "#    ", "#    ", "     "}},
    {'^', {"  #  ", " # # ", "#   #", "     ", "     ", "     ", "     ", "     "}},
    {'*', {"     ", "# # #", " ### ", "#####", " ### ", "# # #", "     ", "     "}},
    {'(', {"   # ", "  #  ", " #   ", " #   ", " #   ", "  #  ", "   # ", "     "}},
    {')', {" #   ", "  #  ", "   # ", "   # ", "   # ", "  #  ", " #   ", "     "}},
    {'a', {"     ", "     ", " ### ", "    #", " ####", "#   #", " ####", "     "}},
    {'b', {"#    ", "#    ", "#### ", "#   #", "#   #", "#   #", "#### ", "     "}},
    {'c', {"     ", "     ", " ####", "#    ", "#    ", "#    ", " ####", "     "}},
    {'d', {"    #", "    #", " ####", "#   #", "#   #", "#   #", " ####", "     "}},
    {'e', {"     ", "     ", " ### ", "#   #", "#####", "#    ", " ####", "     "}},
    {'f', {"  ## ", " #   ", "#### ", " #   ", " #   ", " #   ", " #   ", "     "}},
    {'g', {"     ", "     ", " ####", "#   #", "#   #", " ####", "    #", " ### "}},
    {'h', {"#    ", "#    ", "#### ", "#   #", "#   #", "#   #", "#   #", "     "}},
    {'i', {"  #  ", "     ", " ##  ", "  #  ", "  #  ", "  #  ", " ### ", "     "}},
    {'j', {"   # ", "     ", "  ## ", "   # ", "   # ", "   # ", "   # ", " ##  "}},
    {'k', {"#    ", "#   #", "#  # ", "###  ", "#  # ", "#   #", "#   #", "     "}},
    {'l', {" ##  ", "  #  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### ", "     "}},
    {'m', {"     ", "     ", "## # ", "# # #", "# # #", "# # #", "# # #", "     "}},
    {'n', {"     ", "     ", "#### ", "#   #", "#   #", "#   #", "#   #", "     "}},
    {'o', {"     ", "     ", " ### ", "#   #", "#   #", "#   #", " ### ", "     "}},
    {'p', {"     ", "     ", "#### ", "#   #", "#   #", "#### ", "#    ", "#    "}},
    {'q', {"     ", "     ", " ####", "#   #", "#   #", " ####", "    #", "    #"}},
    {'r', {"     ", "     ", "# ###", "##   ", "#    ", "#    ", "#    ", "     "}},
    {'s', {"     ", "     ", " ####", "#    ", " ### ", "    #", "#### ", "     "}},
    {'t', {" #   ", " #   ", "#### ", " #   ", " #   ", " #   ", "  ## ", "     "}},
    {'u', {"     ", "     ", "#   #", "#   #", "#   #", "#   #", " ####", "     "}},
    {'v', {"     ", "     ", "#   #", "#   #", " # # ", " # # ", "  #  ", "     "}},
    {'w', {"     ", "     ", "# # #", "# # #", "# # #", "# # #", " # # ", "     "}},
    {'x', {"     ", "     ", "#   #", " # # ", "  #  ", " # # ", "#   #", "     "}},
    {'y', {"     ", "     ", "#   #", "#   #", "#   #", " ####", "    #", " ### "}},
    {'z', {"     ", "     ", "#####", "   # ", "  #  ", " #   ", "#####", "     "}},
    {'?', {" ### ", "#   #", "    #", "  ## ", "  #  ", "     ", "  #  ", "     "}},
};

const glyph& glyph_of(char character) {
  const char wanted = char(std::tolower(static_cast<unsigned char>(character)));
  const auto found = std::ranges::find(glyphs, wanted, &glyph::name);
  return found == std::end(glyphs) ? *(std::end(glyphs) - 1) : *found;
}

}  // namespace

unsigned text_width(std::string_view text, unsigned size) {
  return text.empty() ? 0 : unsigned(text.size()) * (glyph_width + 1) * size - size;
}

unsigned text_height(unsigned size) { return glyph_height * size; }

void draw_text(rgb_image& image, unsigned left, unsigned top, std::string_view text, unsigned size,
               const rgb& color) {
  for (const char character : text) {
    const glyph& shape = glyph_of(character);
    for (unsigned y = 0; y < glyph_height * size; ++y) {
      for (unsigned x = 0; x < glyph_width * size; ++x) {
        const bool is_set = shape.rows[y / size][x / size] == '#';
        if (!is_set || left + x >= image.width || top + y >= image.height) continue;
        image.pixels[std::size_t{top + y} * image.width + left + x] = color;
      }
    }
    left += (glyph_width + 1) * size;
  }
}

}  // namespace common
