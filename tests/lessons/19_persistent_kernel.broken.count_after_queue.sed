/unfinished.fetch_add(1, /d
s/enqueue(q, task - 1, 2 \* node + child);/& unfinished.fetch_add(1, order::memory_order_relaxed);/
