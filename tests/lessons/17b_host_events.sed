s/cudaEventRecord(end, stream.get())/cudaEventRecord(end, other.get())/
