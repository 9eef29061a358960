s|threads = 64; |threads = 128; |
