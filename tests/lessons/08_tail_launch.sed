s/launch(add_up, {1, 1}, tail_launch()/launch(add_up, {1, 1}, fire_and_forget()/
