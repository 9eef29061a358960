s/ blocks = 8;/ blocks = 1;/
