s/ kernels = 200;/ kernels = 2000;/
