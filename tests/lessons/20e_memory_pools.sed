s/threshold = UINT64_MAX;/threshold = 0;/
