create table customers (
    customer_id bigint unsigned primary key,
    name varchar(200) character set utf8mb4 not null,
    email varchar(200),
    credit_limit decimal(12, 2) not null,
    is_active tinyint(1) not null,
    born_on date,
    created_at timestamp(6) not null default current_timestamp(6)
);

set time_zone = '+00:00';
insert into customers values
    (1, 'Åse Nygård', 'ase@example.com', 1000.00, 1, '1971-05-04', '2019-01-02 08:00:00.123456'),
    (2, 'Grégoire Ó Briain', null, 250.50, 1, null, '2020-02-29 23:59:59'),
    (3, 'Müller & Söhne 🚚', 'office@example.com', 99999.99, 1, null, '2021-07-15 12:30:00'),
    (4, 'Halden Ltd', 'billing@example.com', 0.10, 0, null, '2022-11-11 11:11:11'),
    (5, 'Ines Duarte', 'ines@example.com', 0.00, 1, '1990-12-31', '2023-03-26 01:30:00'),
    (6, 'Zoë Petit', '', 15.00, 1, '1988-02-01', '2024-04-01 00:00:00');
