// SPDX-License-Identifier: BSD-3-Clause
// search flow-shop --taillard 1 --route device --backend cpu
const recorded =
{"route":"device","backend":"cpu","lost":0,"steps":false,
"kernels":["begin_rounds","traverse_round","drive_chain","reduce_totals","follow_path"],
"shapes":[[1,1,1,512,1,1,0],[1,1,1,256,1,1,147456],[2,1,1,256,1,1,147456],[1,1,1,1,1,1,0]],
"kernel":[0,1,1,1,1,1,2,3,4],
"shape":[0,1,2,2,2,2,3,0,3],
"parent":[-1,0,1,2,3,4,-1,-1,-1],
"depth":[0,1,2,3,4,5,0,0,0],
"stream":[0,3,3,3,3,3,0,0,0],
"block":[0,0,0,0,0,0,0,0,0],
"begin":[0,12940032,4512493,95066918,19496746,18088368,22627590,47180,2932259],
"queued":[0,706888,3633038,126077,117464,177854,0,0,0],
"duration":[12829869,16544368,112048384,24911357,17971635,22551828,691,133909,1702],
"waited":[159826516,143171985,43155476,35225585,22668561,0,0,0,0]}
;
