s/right.get(), log, 'C'/left.get(), log, 'C'/
