s/prefetch(managed, bytes, device())/prefetch(managed, bytes, host())/
