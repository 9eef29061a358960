s/ rounds = 50; / rounds = 5000; /
