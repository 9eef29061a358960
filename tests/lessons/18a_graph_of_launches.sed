s/^    int children = 4;$/&\n    children = 8;/
/^    \/\/ 3\./,/^$/ { /^    children = 8;$/d; }
