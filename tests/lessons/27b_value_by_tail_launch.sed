s/launch(combine_children, {1, 1}, tail_launch()/launch(combine_children, {1, 1}, fire_and_forget()/
