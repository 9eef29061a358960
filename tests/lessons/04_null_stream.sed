s/d = diaries + blockIdx.x/d = diaries/
