s/second.get(), log/first.get(), log/
