// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls from kernels that a graph has captured, together with the grids that complete them. On a
/// GPU. The CPU executor has no graphs.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA

#include <boost/test/unit_test.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>

namespace tests::inline RAMIFY_BUILD {
namespace calls {

/// Captures `call()` and the completion of the arena, and launches the graph `launches` times.
/// `prepare(i)` comes before launch i, in the order of the stream. Checks that no call is refused.
template <class Calls, class Arena, class Prepare, class Call>
void expect_captured_calls(const Calls& calls, Arena& arena, const ramify::host_stream& stream,
                           unsigned launches, const Prepare& prepare, const Call& call) {
  const ramify::captured_graph graph(stream.get(), [&] {
    call();
    arena.complete_async(stream.get());
  });
  ramify::check(cudaStreamSynchronize(nullptr), "uploading");
  for (unsigned i = 0; i < launches; ++i) {
    prepare(i);
    graph.launch(stream.get());
    stream.synchronize();
    BOOST_TEST(calls.check_all()[2] == 0u);
    if (i % 2 == 0) BOOST_TEST(arena.get().refused == 0u);
  }
}

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD

#endif
