s/levels = 30;/levels = 1025;/
