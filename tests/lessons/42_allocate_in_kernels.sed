s/ levels = 4;/ levels = 5;/
