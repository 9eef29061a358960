s/memory_order_\(release\|acquire\)/memory_order_relaxed/
