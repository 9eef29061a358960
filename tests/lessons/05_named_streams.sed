s/first.get(), log, 'B'/second.get(), log, 'B'/
