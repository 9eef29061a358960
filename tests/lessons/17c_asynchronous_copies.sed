s/copy_blocks_host(pageable.data())/copy_blocks_host(pinned.data())/
