s/advice = cudaMemAdviseSetReadMostly/advice = cudaMemAdviseUnsetReadMostly/
