// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20d: managed memory: the first touch, and advice about its use.
//
// Read first     Lesson 20a.
// You will see   the time of a child grid that reads 64 MiB of managed memory: after the host wrote
//                it, again, and after the host has read it; with and without the advice that it is
//                mostly read. Then the time of a child that writes memory that nothing has touched.
// The rule       Pages of managed memory get their place from the processor that touches them
//                first, and move to the one that touches them next. With cudaMemAdviseSetReadMostly
//                a read makes a copy instead: host and GPU then read their own copies, and no page
//                moves until one of them writes.
// The pitfall    Advice changes no result and copies nothing by itself: prefetch, or pay at the
//                first touch. A write to memory that is mostly read removes all other copies, so
//                this advice makes data slower that both sides write.
// Plain CUDA     read_all<<<1024, 256, 0, cudaStreamFireAndForget>>>(data, out)
// Try            In step 2, write `cudaMemAdviseUnsetReadMostly`. The child then is as slow after
//                the host has read as without advice.
#include <numeric>

#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has one kind of memory"); }
#else

#include "managed.hpp"

using namespace ramify;

constexpr unsigned n = 1 << 24;
constexpr std::size_t bytes = n * sizeof(unsigned);

struct results {
  unsigned long long sum;
  int failures;
};

__global__ void read_all(const unsigned* data, results* out) {
  unsigned long long sum = 0;
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) sum += data[i];
  atomicAdd(&out->sum, sum);
}
__global__ void write_all(unsigned* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void read_parent(const unsigned* data, results* out) {
  if (!launch(read_all, {1024, 256}, fire_and_forget(), data, out)) out->failures += 1;
}
__global__ void write_parent(unsigned* data, results* out) {
  if (!launch(write_all, {n / 256, 256}, fire_and_forget(), data)) out->failures += 1;
}

class managed_numbers {
 public:
  managed_numbers() { check(cudaMallocManaged(&data_, bytes), "allocating managed memory"); }
  ~managed_numbers() { static_cast<void>(cudaFree(data_)); }
  managed_numbers(const managed_numbers&) = delete;
  managed_numbers& operator=(const managed_numbers&) = delete;
  [[nodiscard]] unsigned* data() const { return data_; }

 private:
  unsigned* data_ = nullptr;
};

// Returns the milliseconds until a parent and its child are complete.
template <class Data>
double time_of(void (*parent)(Data*, results*), Data* data, results* out) {
  host_event begin, end;
  begin.record();
  check(launch(parent, {1, 1}, nullptr, data, out).code(), "launching a parent");
  end.record();
  return end.milliseconds_since(begin);
}

// 1. The host writes; the child reads twice; the host reads; the child reads again.
void show(const char* what, const unsigned* data, results* out) {
  const double first = time_of(read_parent, data, out);
  const double again = time_of(read_parent, data, out);
  const bool host_reads_ones = std::accumulate(data, data + n, 0u) == n;
  const double after_host = time_of(read_parent, data, out);
  std::cout << what << "\n  the first read moves or copies the pages:     "
            << lesson::yes_or_no(first > 3 * again)
            << "\n  the read after the host has read does, again: "
            << lesson::yes_or_no(after_host > 3 * again) << "\n  milliseconds: " << first << ", "
            << again << ", " << after_host
            << "; the host reads ones: " << lesson::yes_or_no(host_reads_ones) << '\n';
}

int main() {
  if (lesson::has_device() && lesson::attribute(cudaDevAttrConcurrentManagedAccess) == 0) {
    return lesson::skip("host and GPU cannot use managed memory at the same time");
  }
  return lesson::run([] {
    const lesson::device_array<results> memory(1);
    const managed_numbers plain, advised, untouched;
    {
      const managed_numbers warm_up;  // the first launch of a kernel loads it
      time_of(write_parent, warm_up.data(), memory.data());
      time_of(read_parent, static_cast<const unsigned*>(warm_up.data()), memory.data());
    }
    std::fill_n(plain.data(), n, 1u);
    std::fill_n(advised.data(), n, 1u);
    show("without advice", plain.data(), memory.data());
    // 2. Both sides will read.
    const auto advice = cudaMemAdviseSetReadMostly;
    check(lesson::advise(advised.data(), bytes, advice, lesson::device()), "advising");
    show("mostly read", advised.data(), memory.data());

    // 3. First touch by a kernel: the pages are made on the GPU, and nothing moves.
    const double made = time_of(write_parent, untouched.data(), memory.data());
    std::cout << "first touch by a child: " << made << " ms\n";
    const results seen = memory.read()[0];
    std::cout << "sums of the children: " << (seen.sum == 7ull * n ? "right" : "wrong")
              << ", launches that failed: " << seen.failures << '\n';
  });
}
#endif
