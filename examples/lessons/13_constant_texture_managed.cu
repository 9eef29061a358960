// SPDX-License-Identifier: BSD-3-Clause
// Lesson 13: memory with paths of its own: constant, texture, managed and mapped.
//
// You will see   a parent and its child reading constant memory, a texture, a managed variable and
//                pinned memory of the host, in two launches with another constant each.
// The rule       What a thread writes before it launches a child, the child sees: in global, managed
//                and mapped memory, and through a texture too. Constants are the host's to set,
//                while no kernel reads them.
// The catch      A texture is read through a cache that its own grid's writes do not reach. A kernel
//                that writes under a texture and reads it again may get the old value.
// Try            In step 2, store `tex1Dfetch<int>(texels, 0)` instead of `before`. That is behind
//                the write in the same grid: old or new, CUDA promises neither. What the child
//                sees stays the same.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no textures and no constant memory"); }
#else

using namespace ramify;

__constant__ int factor;  // kernels can only read it
__managed__ int managed;  // the host and the kernels use the same name

struct sights {  // in pinned memory of the host, which is mapped: kernels reach it over the link
  int failures, texture_in_parent, note;
  int constant, by_pointer, texture, managed, note_in_child;
};

__global__ void child(cudaTextureObject_t texels, const int* constant, sights* seen) {
  // 4. The child sees the parent's writes by every path. A pointer to constant memory is good too:
  //    the address is the same for all kernels.
  seen->constant = factor;
  seen->by_pointer = *constant;
  seen->texture = tex1Dfetch<int>(texels, 0);
  seen->managed = managed++;
  seen->note_in_child = seen->note++;
}

__global__ void parent(cudaTextureObject_t texels, int* table, sights* seen) {
  // 1. Through the texture comes what was there when the grid began.
  const int before = tex1Dfetch<int>(texels, 0);
  // 2. Writes, one of them under the texture. (`factor = 5;` does not compile.)
  table[0] = before + 1;
  managed = 20;
  seen->note = 30;
  seen->texture_in_parent = before;
  // 3. A texture object is a number, and is handed to the child like one. A kernel cannot make or
  //    destroy it, nor allocate managed or pinned memory.
  if (!launch(child, {1, 1}, fire_and_forget(), texels, &factor, seen)) seen->failures += 1;
}

// Over memory of cudaMalloc(), which is aligned as textures need it.
cudaTextureObject_t texture_over(int* table, std::size_t count) {
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeLinear;
  what.res.linear.devPtr = table;
  what.res.linear.desc = cudaCreateChannelDesc<int>();
  what.res.linear.sizeInBytes = count * sizeof(int);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texels = 0;
  check(cudaCreateTextureObject(&texels, &what, &how, nullptr), "making a texture");
  return texels;
}

int main() {
  return lesson::run([] {
    const int first[4] = {1, 0, 0, 0};
    int* table = nullptr;
    check(cudaMalloc(&table, sizeof first), "allocating the table");
    check(cudaMemcpy(table, first, sizeof first, cudaMemcpyHostToDevice), "filling the table");
    const cudaTextureObject_t texels = texture_over(table, 4);
    pinned_buffer<sights> seen(1);
    for (const int constant : {10, 11}) {
      seen[0] = {};
      // 5. No kernel is running now: the host may set the constant.
      check(cudaMemcpyToSymbol(factor, &constant, sizeof constant), "setting the constant");
      check(launch(parent, {1, 1}, nullptr, texels, table, seen.data()).code(),
            "launching the parent");
      // 6. The host waits before it looks into managed or mapped memory.
      check(cudaDeviceSynchronize(), "waiting for kernels");
      const sights& s = seen[0];
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
