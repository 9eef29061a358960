s/&high, cudaStreamNonBlocking, highest/\&high, cudaStreamNonBlocking, lowest/
