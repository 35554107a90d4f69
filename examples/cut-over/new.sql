create table customers (
    customer_id bigint primary key,
    name text not null,
    email text,
    credit_limit numeric(12, 2) not null,
    is_active boolean not null,
    born_on date,
    created_at timestamptz not null
);

insert into customers values
    (1, 'Åse Nygård', 'ase@example.com', 1000.00, true, '1971-05-04', '2019-01-02 08:00:00.123456+00'),
    (2, 'Grégoire Ó Briain', null, 250.50, true, null, '2020-02-29 23:59:59+00'),
    (3, 'Müller & Söhne ?', 'office@example.com', 99999.99, true, null, '2021-07-15 12:30:00+00'),
    (4, 'Halden Ltd', 'billing@example.com', 0.10, true, null, '2022-11-11 11:11:11+00'),
    (5, 'Ines Duarte', 'ines@example.com', 0.00, true, '1990-12-31', '2023-03-26 02:30:00+00'),
    (6, 'Zoë Petit', null, 15.00, true, '1988-02-01', '2024-04-01 00:00:00+00');
