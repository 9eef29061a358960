s/levels = 30;/levels = 100;/
