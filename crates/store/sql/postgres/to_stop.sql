select id from trueup.runs where state = 'running' and worker = $1 and cancel is not null
