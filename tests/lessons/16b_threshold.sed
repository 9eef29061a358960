s|threshold = 16;|threshold = 64;|
