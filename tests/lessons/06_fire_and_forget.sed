s/fire_and_forget(), d, name/null_stream(), d, name/
