/^  \/\/ 2\. /i\  if (!launch(world, {1, 1}, fire_and_forget())) atomicAdd(failures, 1);
/launch(world, {1, 1}, tail_launch())/d
