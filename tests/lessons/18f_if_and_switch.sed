/const unsigned body =/s/10'000/1'000/
