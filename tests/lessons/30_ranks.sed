s|begin + share;|begin + 2 * share;|
