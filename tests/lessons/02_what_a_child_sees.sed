s/  __syncthreads();/  __syncwarp();/
