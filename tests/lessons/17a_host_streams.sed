/2\. Do the same/,/launch_spin(nullptr/s/launch_spin(stream.get(), ms)/launch_spin(blocking, ms)/
