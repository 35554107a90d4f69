select id from trueup.tenants where name = $1
