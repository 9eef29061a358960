s/threads = 2000;/threads = 1024;/
