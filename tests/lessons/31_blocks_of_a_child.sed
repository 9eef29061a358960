s/__launch_bounds__(threads) bounded_child/__launch_bounds__(512) bounded_child/
