s/kernels_alone(cudaStreamPerThread)/kernels_alone(nullptr)/
