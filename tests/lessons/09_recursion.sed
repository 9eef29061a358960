s/child < 2;/child < 3;/
