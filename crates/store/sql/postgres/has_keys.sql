select exists (select 1 from trueup.keys)
