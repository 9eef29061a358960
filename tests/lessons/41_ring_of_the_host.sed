s/^constexpr unsigned tasks = 100;/constexpr unsigned tasks = 1000;/
