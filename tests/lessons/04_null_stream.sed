s/log = logs + blockIdx.x/log = logs/
