s/cudaGraphLaunch(now, cudaStreamGraphFireAndForget)/cudaGraphLaunch(now, cudaStreamGraphTailLaunch)/
