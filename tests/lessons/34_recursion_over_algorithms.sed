s/records = 64;/records = 4;/
