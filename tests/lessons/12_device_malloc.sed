s|if (threadIdx.x == 0) device_free(piece);$|// &|
