// SPDX-License-Identifier: BSD-3-Clause
// A kernel of a user that records itself, and the writer of traces.
#include <filesystem>
#include <iostream>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/runtime/trace_recorder.cuh>

__global__ void nothing(ramify::trace_ticket ticket) {
  const ramify::traced here(ticket, __func__);
}

int main(int, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  ramify::launch_trace trace;
  ramify::detail::trace_recorder recorder(&trace, nullptr);
  if (!ramify::launch(nothing, {1, 32}, nullptr, recorder.ticket())) return 1;
  recorder.read();
  const std::string file = std::string(argv[0]) + ".json";
  ramify::write_trace_file(file, trace);
  std::cout << trace.grids.size() << " grid in " << std::filesystem::file_size(file) << " bytes\n";
  return trace.grids.size() == 1 ? 0 : 1;
}
