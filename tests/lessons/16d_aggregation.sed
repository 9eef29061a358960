s|threads = 32; |threads = 64; |
