s|long_row = 64; |long_row = 8; |
