select max(version) from trueup.migrations
