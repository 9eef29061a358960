s/questions = 10;/questions = 1000;/
