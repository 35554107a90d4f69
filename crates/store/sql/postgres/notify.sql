select pg_notify('trueup_changed', $1)
