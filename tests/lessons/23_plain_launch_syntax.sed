s/too_many = 2000;/too_many = 1024;/
