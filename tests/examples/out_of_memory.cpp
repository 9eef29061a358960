// SPDX-License-Identifier: BSD-3-Clause
// An example program without any memory: while it writes a file, each allocation fails from then
// on. The program must print one line, return the status of a failure, and leave no partial file.
//
//     out_of_memory FILE     run by ctest, which compares the message
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>

#include "common/cli.hpp"
#include "common/output_file.hpp"

namespace {

bool no_memory = false;

}  // namespace

// Not inline: GCC 12 would warn that memory of the inlined malloc() is deleted.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = no_memory ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

int main(int argc, char** argv) {
  std::string file = "none";
  const int status = common::run_program(
      "out_of_memory", "Writes a file without memory", argc, argv,
      [&](CLI::App& app) { app.add_option("file", file)->required(); },
      [&] {
        common::write_file(file, [](std::ostream& out) {
          out << "the beginning of the file\n";
          no_memory = true;
          out << std::string(1000, 'x');
        });
      });
  no_memory = false;
  const std::filesystem::path path(file);
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
    if (!entry.path().filename().string().starts_with(path.filename().string())) continue;
    std::cerr << entry.path() << " is left\n";
    return 2;
  }
  return status == 1 ? 0 : 3;
}
