s/launch(largest, {1, children}, fire_and_forget(), r)/launch(largest, {1, children}, tail_launch(), r)/
