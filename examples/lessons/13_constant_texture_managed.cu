// SPDX-License-Identifier: BSD-3-Clause
// Lesson 13: constant memory, textures, managed memory and mapped memory.
//
// Read first     Lesson 3.
// You will see   a parent and its child that read constant memory, a texture, a managed variable
//                and pinned host memory, in two launches with a different constant each.
// The rule       A child sees what its launching thread wrote before the launch in global, managed
//                and mapped memory, and also through a texture. The host may set a constant only
//                while no kernel reads it.
// The pitfall    A texture is read through a cache that writes of the same grid do not update. A
//                kernel that writes memory and reads it again through a texture may get the old
//                value.
// Plain CUDA     child<<<1, 1, 0, cudaStreamFireAndForget>>>(texels, &factor, seen)
// Try            In step 2, store `tex1Dfetch<int>(texels, 0)` instead of `before`. This fetch
//                follows the write in the same grid: it may return the old or the new value. The
//                child's results stay the same.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no textures"); }
#else

using namespace ramify;

__constant__ int factor;  // kernels can only read it
__managed__ int managed;  // the host and the kernels use the same name

// In pinned host memory. It is mapped: kernels read and write it over the link to the host.
struct observations {
  int failures, texture_in_parent, note;
  int constant, by_pointer, texture, managed, note_in_child;
};

__global__ void child(cudaTextureObject_t texels, const int* constant, observations* seen) {
  // 4. The child sees the parent's writes on every path. A pointer to constant memory is allowed:
  //    its address is the same in all kernels.
  seen->constant = factor;
  seen->by_pointer = *constant;
  seen->texture = tex1Dfetch<int>(texels, 0);
  seen->managed = managed++;
  seen->note_in_child = seen->note++;
}

__global__ void parent(cudaTextureObject_t texels, int* table, observations* seen) {
  // 1. A texture fetch returns the value from before the grid began.
  const int before = tex1Dfetch<int>(texels, 0);
  // 2. Write, also to the memory that the texture reads. (`factor = 5;` does not compile.)
  table[0] = before + 1;
  managed = 20;
  seen->note = 30;
  seen->texture_in_parent = before;
  // 3. A texture object is a number and is passed by value. A kernel cannot create or destroy one,
  //    nor allocate managed or pinned memory.
  if (!launch(child, {1, 1}, fire_and_forget(), texels, &factor, seen)) seen->failures += 1;
}

// Creates a texture over memory of cudaMalloc(), which has the alignment that textures require.
cudaTextureObject_t texture_over(int* table, std::size_t count) {
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeLinear;
  what.res.linear.devPtr = table;
  what.res.linear.desc = cudaCreateChannelDesc<int>();
  what.res.linear.sizeInBytes = count * sizeof(int);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texels = 0;
  check(cudaCreateTextureObject(&texels, &what, &how, nullptr), "creating a texture");
  return texels;
}

int main() {
  return lesson::run([] {
    const int first[4] = {1, 0, 0, 0};
    int* table = nullptr;
    check(cudaMalloc(&table, sizeof first), "allocating the table");
    check(cudaMemcpy(table, first, sizeof first, cudaMemcpyHostToDevice), "filling the table");
    const cudaTextureObject_t texels = texture_over(table, 4);
    pinned_buffer<observations> seen(1);
    for (const int constant : {10, 11}) {
      seen[0] = {};
      // 5. No kernel runs now, so the host may set the constant.
      check(cudaMemcpyToSymbol(factor, &constant, sizeof constant), "setting the constant");
      check(launch(parent, {1, 1}, nullptr, texels, table, seen.data()).code(),
            "launching the parent");
      // 6. The host waits before it reads managed or mapped memory.
      check(cudaDeviceSynchronize(), "waiting for kernels");
      const observations& s = seen[0];
      std::cout << "constant, in the child:   " << s.constant << ", by pointer " << s.by_pointer
                << "\ntexture:  in the parent   " << s.texture_in_parent << ", in the child "
                << s.texture << "\nmanaged:  in the child    " << s.managed << ", on the host "
                << managed << "\nmapped:   in the child    " << s.note_in_child << ", on the host "
                << s.note << "\nlaunches that failed:     " << s.failures << '\n';
    }
    check(cudaDestroyTextureObject(texels), "destroying the texture");
    check(cudaFree(table), "freeing the table");
  });
}
#endif
