s|below / 4 + 1|below / 2 + 1|
