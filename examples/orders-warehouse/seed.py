"""Puts warehouse.csv into an object store, as the Parquet file that a warehouse would write."""

import os
from pathlib import Path

import boto3
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

INSTANT = pa.timestamp("us", tz="UTC")
TYPES = {
    "order_id": pa.int64(),
    "customer": pa.string(),
    "status": pa.string(),
    "total": pa.decimal128(12, 2),
    "updated_at": INSTANT,
    "loaded_at": INSTANT,
}

rows = pyarrow.csv.read_csv(
    Path(__file__).with_name("warehouse.csv"), convert_options=pyarrow.csv.ConvertOptions(column_types=TYPES)
)
file = pa.BufferOutputStream()
pyarrow.parquet.write_table(rows, file)

lake = boto3.client("s3", endpoint_url=os.environ["LAKE_ENDPOINT"], region_name="eu-west-1")
lake.create_bucket(Bucket="lake", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
lake.put_object(Bucket="lake", Key="orders/day=2026-03-31/part-0.parquet", Body=file.getvalue().to_pybytes())
