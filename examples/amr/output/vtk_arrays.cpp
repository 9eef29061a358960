// SPDX-License-Identifier: BSD-3-Clause
#include "vtk_arrays.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <new>
#include <ostream>
#include <streambuf>
#include <utility>

namespace common {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the files are declared as little-endian");

/// Compresses what is written to it, in blocks of 1 MiB. VTK's reader expects a header before them:
/// the number of blocks, the bytes of a block and of a last one that is smaller, and the compressed
/// bytes of each block.
class compressed_array : public std::streambuf {
 public:
  /// Ends the array, and puts its bytes into `header` and `data`.
  void move_to(std::string& header, std::string& data) {
    constexpr std::size_t size = block_size;
    if (!block_.empty()) compress();
    const auto put = [&header](std::uint64_t number) {
      header.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    put(sizes_.size());
    put(size);
    put(last_size_ == size ? 0 : last_size_);
    for (const std::uint64_t bytes : sizes_) put(bytes);
    compressed_.shrink_to_fit();
    data = std::move(compressed_);
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    for (std::size_t rest = std::size_t(count); rest > 0;) {
      const std::size_t part = std::min(rest, block_size - block_.size());
      block_.append(text, part);
      text += part;
      rest -= part;
      if (block_.size() == block_size) compress();
    }
    return count;
  }
  int_type overflow(int_type) override { return traits_type::eof(); }  // write() is the only call

 private:
  static constexpr std::size_t block_size = 1 << 20;

  void compress() {
    uLongf bytes = compressBound(uLong(block_.size()));
    const std::size_t before = compressed_.size();
    compressed_.resize(before + bytes);
    const int error = compress2(reinterpret_cast<Bytef*>(compressed_.data() + before), &bytes,
                                reinterpret_cast<const Bytef*>(block_.data()), uLong(block_.size()),
                                Z_BEST_SPEED);
    if (error != Z_OK) throw std::bad_alloc();  // the buffer is large enough
    compressed_.resize(before + bytes);
    sizes_.push_back(bytes);
    last_size_ = block_.size();
    block_.clear();
  }

  std::string block_, compressed_;
  std::vector<std::uint64_t> sizes_;
  std::uint64_t last_size_ = 0;
};

}  // namespace

void vtk_arrays::add(const std::string& section, const std::string& attributes,
                     const std::function<void(std::ostream&)>& write) {
  compressed_array compressed;
  std::ostream out(&compressed);
  out.exceptions(std::ios::badbit);
  write(out);
  array& added = arrays_.emplace_back();
  added.section = section;
  added.attributes = attributes + " format=\"appended\" offset=\"" + std::to_string(offset_) + '"';
  compressed.move_to(added.header, added.data);
  offset_ += added.header.size() + added.data.size();
}

void vtk_arrays::write_section(std::ostream& out, const std::string& section) const {
  out << "    <" << section << ">\n";
  for (const array& one : arrays_) {
    if (one.section == section) out << "      <DataArray " << one.attributes << "/>\n";
  }
  out << "    </" << section << ">\n";
}

void vtk_arrays::write_data(std::ostream& out) const {
  out << "  <AppendedData encoding=\"raw\">\n_";
  for (const array& one : arrays_) out << one.header << one.data;
  out << "\n  </AppendedData>\n";
}

}  // namespace common
