create table trades (day text not null, isin text not null, quantity integer not null, price_cents integer not null);
insert into trades values
    ('2026-03-02', 'US0378331005', 100, 21540),
    ('2026-03-16', 'US0378331005', -40, 21890),
    ('2026-03-09', 'DE0007164600', 250, 18425),
    ('2026-03-31', 'GB0002374006', 600, 2731),
    ('2026-03-30', 'NL0010273215', 12, 90110),
    ('2026-04-01', 'DE0007164600', 10, 18500);
