create table orders (
    order_id bigint primary key,
    placed_on date not null,
    customer uuid not null,
    status text not null,
    total numeric(12, 2) not null,
    updated_at timestamptz not null
);

insert into orders values
    (500120, '2026-03-30', '3f0c1d9e-0b0f-4a55-9d53-7f3b0c0a1101', 'shipped', 59.90, '2026-03-30 09:12:44+02'),
    (500121, '2026-03-31', '3f0c1d9e-0b0f-4a55-9d53-7f3b0c0a1101', 'shipped', 18.00, '2026-03-31 10:00:01+02'),
    (500122, '2026-03-31', '8a2b7a34-5b51-4f0e-8c0a-0c1e3f8b2202', 'paid', 249.00, '2026-03-31 11:30:15.25+02'),
    (500123, '2026-03-31', '8a2b7a34-5b51-4f0e-8c0a-0c1e3f8b2202', 'cancelled', 249.00, '2026-03-31 18:02:10+02'),
    (500124, '2026-03-31', 'c7d4b9f0-66a8-4a3f-a1fd-52a6c5d73303', 'paid', 1204.35, '2026-03-31 19:45:00+02'),
    (500125, '2026-03-31', 'c7d4b9f0-66a8-4a3f-a1fd-52a6c5d73303', 'paid', 7.50, '2026-03-31 23:59:58+02');
