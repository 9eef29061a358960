s/ rounds = 5; / rounds = 20000; /
