// SPDX-License-Identifier: BSD-3-Clause
// Lesson 38: a running kernel that the host gives work.
//
// Read first     Lessons 19 and 20a.
// You will see   one kernel that answers ten questions of the host, one after another. Each
//                question is the answer before it, so host and kernel really alternate. The host
//                makes no CUDA call between them: a round trip is two writes of memory.
// The rule       Pinned memory has one address for the host and for kernels. A writer first writes
//                the data, then a flag with a release of system scope; the reader reads the flag
//                with an acquire of system scope, then the data (system_flag.hpp). Each word has
//                one writer.
// The pitfall    Device scope, that of atomicAdd(), orders threads of this GPU only; a plain read
//                may be kept in a register or a cache for ever. A kernel that waits for
//                the host occupies its multiprocessor, and on some systems nothing else of the
//                process may run, so give it an end that the host can always reach.
// Plain CUDA     answer_all<<<1, 32, 0, stream.get()>>>(box.data())
// Try            Write `questions = 1000`. The kernel and its launch are the same.
#include <chrono>
#include <future>

#include "system_flag.hpp"

using namespace ramify;
using lesson::read_flag;
using lesson::write_flag;

constexpr unsigned questions = 10;

// In pinned memory. The counters only grow, so no write of one side is lost by a late read.
struct mailbox {
  unsigned question;
  unsigned asked;  // written by the host: questions so far
  unsigned answer;
  unsigned answered;  // written by the kernel: answers so far
};

// 1. One block answers: thread 0 waits for a question, all threads work on it.
__global__ void answer_all(mailbox* box) {
  __shared__ unsigned sum;
  for (unsigned i = 1; i <= questions; ++i) {
    if (threadIdx.x == 0) {
      while (read_flag(box->asked) != i) continue;
      sum = 0;
    }
    __syncthreads();
    atomicAdd(&sum, box->question % 1000 + threadIdx.x);
    __syncthreads();
    // 2. Write the answer, then the flag. The release makes both visible to the host in this order.
    if (threadIdx.x == 0) {
      box->answer = sum;
      write_flag(box->answered, i);
    }
  }
}

int main() {
  return lesson::run([] {
    const host_stream stream;
    pinned_buffer<mailbox> box(1);
    box[0] = {};
    // 3. On the CPU executor a launch returns when the grid is complete, so a second thread of the
    //    host launches.
    std::future<void> kernel = std::async(std::launch::async, [&] {
      check(launch(answer_all, {1, 32}, stream.get(), box.data()).code(), "launching");
      stream.synchronize();
    });
    const auto has_ended = [&] {
      return kernel.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    unsigned right = 0;
    unsigned number = 1;
    for (unsigned i = 1; i <= questions; ++i) {
      // 4. Write the question, then the flag. Wait for the answer, unless the launch has failed.
      box[0].question = number;
      write_flag(box[0].asked, i);
      while (read_flag(box[0].answered) != i && !has_ended()) continue;
      const unsigned expected = 32 * (number % 1000) + 31 * 32 / 2;
      right += box[0].answer == expected ? 1 : 0;
      number = box[0].answer;
    }
    kernel.get();  // throws if the launch has failed
    std::cout << "questions answered by one grid: " << right << " of " << questions << '\n'
              << "the last answer:                " << number << '\n';
  });
}
