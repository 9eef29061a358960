s/ranges::min_element/ranges::max_element/
