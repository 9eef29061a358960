s/stream.get(), a) \&\& good/fire_and_forget(), a) \&\& good/
