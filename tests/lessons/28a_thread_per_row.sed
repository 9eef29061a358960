s|interval = 16; |interval = 512; |
