s/prefetch(managed, device())/prefetch(managed, host())/
