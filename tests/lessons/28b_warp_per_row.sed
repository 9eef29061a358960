s|lanes = 32; |lanes = 8; |
