// SPDX-License-Identifier: BSD-3-Clause
#include "png_image.hpp"

#include <png.h>

#include <cstring>
#include <ostream>
#include <string>

#include "output_file.hpp"

namespace common {

void write_png(const std::filesystem::path& path, const rgb_image& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  // The first call computes the size, the second call encodes.
  png_alloc_size_t size = 0;
  std::vector<char> encoded;
  const auto encode = [&](void* to) {
    if (png_image_write_to_memory(&image, to, &size, 0, picture.pixels.data(), 0, nullptr) == 0) {
      throw bad_output("cannot write " + path.string() + ": " + image.message);
    }
  };
  encode(nullptr);
  encoded.resize(size);
  encode(encoded.data());
  write_file(path, [&](std::ostream& out) {
    out.write(encoded.data(), static_cast<std::streamsize>(size));
  });
}

}  // namespace common
