s/right.wait(a_is_complete/left.wait(a_is_complete/
