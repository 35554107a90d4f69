select task, instance, at_ms, took_ms, seen, done, note from trueup.passes order by task, instance
