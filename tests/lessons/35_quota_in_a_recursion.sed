s/wanted_limit = 256;/wanted_limit = 4096;/
