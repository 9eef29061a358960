s/ stack = 4 << 10;/ stack = 8 << 10;/
