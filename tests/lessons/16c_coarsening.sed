s|coarsening = 4;|coarsening = 1;|
