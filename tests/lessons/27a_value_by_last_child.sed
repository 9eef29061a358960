s/arrived, 1u) != 1)/arrived, 1u) != 0)/
