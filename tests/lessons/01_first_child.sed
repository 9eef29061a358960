s/threadIdx.x == 0) {/threadIdx.x < 32) {/
