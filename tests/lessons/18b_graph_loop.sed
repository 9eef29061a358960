s/&condition, graph, 1, /\&condition, graph, 0, /
