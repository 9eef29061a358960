// SPDX-License-Identifier: BSD-3-Clause
// quicksort --generate uniform --n 1000000 --route device --backend cuda
const recorded =
{"route":"device","backend":"cuda","lost":0,"steps":false,
"kernels":["sample_sort_sample_root","sample_sort_count","sample_sort_scatter","sample_sort_leaves"],
"shapes":[[64,1,1,1024,1,1,3184],[124,1,1,1024,1,1,8320],[124,1,1,512,1,1,94464],[132,1,1,960,1,1,119700]],
"kernel":[0,1,2,3],
"shape":[0,1,2,3],
"parent":[-1,-1,-1,2],
"depth":[0,0,0,1],
"stream":[0,0,0,3],
"block":[0,0,0,61],
"begin":[0,5984,9344,54784],
"queued":[0,0,0,25152],
"duration":[12832,20288,54688,28960],
"waited":[0,0,29056,0]}
;
