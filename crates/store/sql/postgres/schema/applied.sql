insert into trueup.migrations (version) values ($1)
