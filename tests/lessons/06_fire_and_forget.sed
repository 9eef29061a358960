s/fire_and_forget(), log, name/null_stream(), log, name/
