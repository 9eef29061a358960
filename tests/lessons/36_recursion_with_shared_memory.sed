s/count = 256;/count = 1024;/
