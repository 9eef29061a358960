s/slot = slots + blockIdx.x;/slot = slots;/
