select exists (select from trueup.runs where id = $1)
