// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The arrays of VTK's XML files: they follow the XML, compressed by zlib.

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace common {

/// Writes the bytes of numbers.
template <class T>
void write_all(std::ostream& out, const std::vector<T>& values) {
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
}

/// The arrays of a file, compressed, in memory.
class vtk_arrays {
 public:
  /// Attributes of <VTKFile> that describe the arrays.
  static constexpr const char* attributes =
      "byte_order=\"LittleEndian\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\"";

  /// Adds an array to a section. `attributes` are those of its element, without the place of its
  /// data, which `write` writes. \throws std::bad_alloc
  void add(const std::string& section, const std::string& attributes,
           const std::function<void(std::ostream&)>& write);

  /// Writes an element with the arrays of a section.
  void write_section(std::ostream& out, const std::string& section) const;

  /// Writes the element with the data of all arrays. No section follows it.
  void write_data(std::ostream& out) const;

 private:
  struct array {
    std::string section, attributes;
    std::string header;  ///< before the data in the file
    std::string data;
  };
  std::vector<array> arrays_;
  std::uint64_t offset_ = 0;
};

}  // namespace common
