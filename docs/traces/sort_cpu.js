// SPDX-License-Identifier: BSD-3-Clause
// quicksort --generate uniform --n 1000000 --route device --backend cpu
const recorded =
{"route":"device","backend":"cpu","lost":0,"steps":false,
"kernels":["sample_sort_sample_root","sample_sort_count","sample_sort_scatter","sample_sort_leaves"],
"shapes":[[8,1,1,32,1,1,49668],[8,1,1,16,1,1,8320],[8,1,1,16,1,1,45312],[2,1,1,16,1,1,18448]],
"kernel":[0,1,2,3],
"shape":[0,1,2,3],
"parent":[-1,-1,-1,2],
"depth":[0,0,0,1],
"stream":[0,0,0,3],
"block":[0,0,0,5],
"begin":[0,15534069,20707382,27859300],
"queued":[0,0,0,133849],
"duration":[15415594,20566734,42665740,90815072],
"waited":[0,0,76008632,0]}
;
