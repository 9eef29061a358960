s/^    arena.complete_async();$//
