-- Only here: of servers that start at once one makes the first key. Others may read meanwhile, and SQLite has one writer.
lock table trueup.keys in share row exclusive mode
