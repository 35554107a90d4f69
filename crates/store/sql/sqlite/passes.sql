select task, instance, at_ms, took_ms, seen, done, note from passes order by task, instance
