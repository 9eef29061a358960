// SPDX-License-Identifier: BSD-3-Clause
// Lesson 30: one program, one rank and four: several GPUs or processes.
//
// Read first     Lesson 6.
// You will see   the number of primes below 20,000, counted by one process. With
//                `mpirun -n 4 --bind-to none lesson_30_ranks`, four processes count a quarter each.
// The rule       MPI starts the same program several times. Each process, a rank, has its own GPU
//                or CPU executor, and chooses its part of the work by its number. Ranks share no
//                memory: a communicator combines their results. On GPUs, NCCL does so in device
//                memory. Inside a rank, grids launch grids as before.
// The pitfall    If one rank fails, the others wait for it forever. In comm.run() they do not: if
//                the work throws on one rank, it throws on all, with the rank and the cause.
// Plain CUDA     count_primes<<<(per_child + 127) / 128, 128, 0, cudaStreamFireAndForget>>>(begin,
//                child_end, primes)
// Try            In step 1, let each part end at `begin + 2 * share`. No rank notices that another
//                one counts the same numbers: dividing the work is up to the program.
#include <cstdint>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/session.hpp>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned numbers = 20'000;
constexpr unsigned per_child = 1000;

__global__ void count_primes(unsigned begin, unsigned end, std::uint64_t* primes) {
  const unsigned n = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= end || n < 2) return;
  for (unsigned divisor = 2; divisor * divisor <= n; ++divisor) {
    if (n % divisor == 0) return;
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(primes), 1ull);
}

// Launches a child grid for each thousand of the numbers of a rank.
__global__ void divide(unsigned begin, unsigned end, std::uint64_t* primes, int* failures) {
  for (; begin < end; begin += per_child) {
    const unsigned child_end = begin + per_child < end ? begin + per_child : end;
    const auto launched = launch(count_primes, {(per_child + 127) / 128, 128}, fire_and_forget(),
                                 begin, child_end, primes);
    if (!launched) atomicAdd(failures, 1);
  }
}

int main() {
  mpi_session session;  // initializes MPI
  return lesson::run([&] {
    communicator comm({.backend = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu});
    comm.run([&] {
      // 1. The part of this rank. Parts differ by one number if the division leaves a remainder.
      const auto rank = static_cast<unsigned>(comm.rank());
      const auto ranks = static_cast<unsigned>(comm.size());
      const unsigned begin = numbers * rank / ranks;
      const unsigned share = numbers * (rank + 1) / ranks - begin;
      const unsigned end = begin + share;
      // 2. Count in device memory of this rank.
      const lesson::device_array<std::uint64_t> primes(1);
      const lesson::device_array<int> failures(1);
      check(launch(divide, {1, 1}, nullptr, begin, end, primes.data(), failures.data()).code(),
            "launching a kernel");
      // 3. The sum over all ranks, in the device memory of each. The call waits for the kernel.
      comm.all_reduce(primes.data(), 1, reduction::sum);
      const int failed = comm.all_reduce(failures.read()[0], reduction::sum);  // a host value
      if (rank != 0) return;
      std::cout << "ranks:                " << ranks << "\nnumbers of each rank: " << share
                << "\nprimes below " << numbers << ":   " << primes.read()[0]
                << "\nlaunches that failed: " << failed << '\n';
    });
  });
}
