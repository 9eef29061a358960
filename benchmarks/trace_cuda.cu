// SPDX-License-Identifier: BSD-3-Clause
// Measures the cost of a trace for a sort on a GPU: kernels that cannot record, kernels that can
// record but do not, and kernels that record, alternately. The benchmark checks that all grids are
// recorded before it reports a time.
//   benchmark_trace_cuda
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"
#include "trace_sorts.cuh"

namespace {

using namespace ramify;

__global__ void fill(std::uint32_t* keys, std::size_t n) {
  const std::size_t first = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  for (std::size_t i = first; i < n; i += std::size_t{gridDim.x} * blockDim.x) {
    keys[i] = static_cast<std::uint32_t>(benchmark::scrambled(i));
  }
}

void measure(benchmark::recorder& out, int log_n) {
  const std::size_t n = std::size_t{1} << log_n;
  const host_stream stream;
  const device_buffer<std::uint32_t> input(n, stream.get()), keys(n, stream.get());
  check(launch(fill, {1024, 256}, stream.get(), input.data(), n).code(), "filling the keys");
  stream.synchronize();

  constexpr int repeats = 41, warming_up = 3;
  std::vector<double> without, off, on;
  std::uint64_t grids = 0;
  for (int i = -warming_up; i < repeats; ++i) {
    launch_trace trace;
    const auto plain = sort_once(input.data(), keys.data(), n, nullptr);
    const auto silent = sort_with_traced_kernels(input.data(), keys.data(), n, nullptr);
    const auto traced = sort_with_traced_kernels(input.data(), keys.data(), n, &trace);
    grids = traced.grids;
    if (trace.count() != grids || trace.lost != 0) {
      throw std::runtime_error("of " + std::to_string(grids) + " grids " +
                               std::to_string(trace.count()) + " were recorded");
    }
    if (i < 0) continue;
    without.push_back(plain.ms);
    off.push_back(silent.ms);
    on.push_back(traced.ms);
  }
  const auto base = benchmark::summarize(without);
  const auto silent = benchmark::summarize(off);
  const auto traced = benchmark::summarize(on);
  out.row({"2^" + std::to_string(log_n), grids, base, silent, silent.median_ms / base.median_ms,
           traced, traced.median_ms / base.median_ms});
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "trace_cuda",
       .about = "The cost of a trace for a sort on a GPU.",
       .machine = benchmark::this_gpu},
      argc, argv, [](benchmark::recorder& out, const benchmark::command_line&) {
        out.table("u32, uniform, device route: ms",
                  {"n", "grids", "no traces", "switched off", "ratio", "recording", "ratio"});
        for (const int log_n : {20, 22, 24, 26, 28}) measure(out, log_n);
      });
}
