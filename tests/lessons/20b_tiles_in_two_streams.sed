s/budget = 256 << 10;/budget = 128 << 10;/
