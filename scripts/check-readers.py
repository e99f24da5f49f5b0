#!/usr/bin/env python3
"""Opens a snapshot's data/ folder with DuckDB, pandas, pyarrow and Polars, as a researcher would.

    python -m venv VENV && VENV/bin/pip install -r scripts/requirements.txt
    VENV/bin/python scripts/check-readers.py snapshots/top10k/data

Every warning is an error. All four readers must read every column of every row, agree on the number of rows, and find
each body's SHA-256 to be what the table says; every field, nested ones too, must carry its documentation; no column may
be unsigned. Prints a line for each check and exits 1 if one fails.
"""

import hashlib
import sys
import warnings
from pathlib import Path

warnings.simplefilter("error")

import duckdb  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow  # noqa: E402
import pyarrow.dataset  # noqa: E402


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    data = Path(sys.argv[1])
    if not any(data.glob("date=*/*.parquet")):
        print(f"{data} holds no date=*/*.parquet", file=sys.stderr)
        return 1

    rows = {}
    failed = False
    for name, check in CHECKS.items():
        try:
            rows[name], remark = check(data)
            print(f"ok    {name}: {rows[name]} rows{remark}")
        except (Exception, Warning) as error:  # whatever a reader throws is the finding
            failed = True
            print(f"FAIL  {name}: {type(error).__name__}: {error}")
    if len(set(rows.values())) > 1:
        failed = True
        print(f"FAIL  row counts differ: {rows}")
    return int(failed)


def read_with_duckdb(data: Path) -> tuple[int, str]:
    files = f"'{data}/**/*.parquet', union_by_name = true, hive_partitioning = true"
    columns = duckdb.sql(f"describe select * from read_parquet({files})").fetchall()
    unsigned = [name for name, kind, *_ in columns if kind.startswith(("UINTEGER", "UBIGINT", "USMALLINT", "UTINYINT"))]
    assert not unsigned, f"unsigned: {unsigned}"
    table = duckdb.sql(f"select * from read_parquet({files})").fetchall()
    differs = "body_sha256 is distinct from unhex(sha256(body))"
    [(wrong,)] = duckdb.sql(f"select count(*) from read_parquet({files}) where {differs}").fetchall()
    assert wrong == 0, f"{wrong} bodies differ from body_sha256"
    return len(table), f", {len(columns)} columns"


def read_with_pandas(data: Path) -> tuple[int, str]:
    frame = pandas.read_parquet(data)
    check_bodies(zip(frame["body"], frame["body_sha256"]))
    assert str(frame["fetched_at"].dtype).endswith(", UTC]"), frame["fetched_at"].dtype
    frame["outcome"].value_counts()
    return len(frame), f", {len(frame.columns)} columns"


def read_with_pyarrow(data: Path) -> tuple[int, str]:
    dataset = pyarrow.dataset.dataset(data, format="parquet", partitioning="hive")
    fields = [field for field in dataset.schema if field.name != "date"]
    for field in fields:
        check_field(field, field.name)
    assert fields[-1].name == "body", f"the last column is {fields[-1].name}"
    table = dataset.to_table()
    table.validate(full=True)
    check_bodies(zip(table["body"].to_pylist(), table["body_sha256"].to_pylist()))
    for fragment in dataset.get_fragments():
        keys = {key.decode() for key in fragment.metadata.metadata}
        missing = {f"survey.{key}" for key in METADATA} - keys
        assert not missing, f"{fragment.path} lacks the metadata {sorted(missing)}"
    return table.num_rows, f", {len(fields)} columns, all documented"


def read_with_polars(data: Path) -> tuple[int, str]:
    frame = polars.scan_parquet(data, hive_partitioning=True).collect()
    assert polars.read_parquet(data).height == frame.height
    check_bodies(zip(frame["body"], frame["body_sha256"]))
    frame.group_by("outcome").len()
    frame.explode("named_agents", empty_as_null=True, keep_nulls=True).unnest("named_agents", separator=".")
    return frame.height, f", {frame.width} columns"


def check_bodies(pairs) -> None:
    for body, sha256 in pairs:
        assert (body is None) == (sha256 is None), "a body without a hash, or a hash without a body"
        assert body is None or hashlib.sha256(body).digest() == sha256, f"a body differs from {sha256.hex()}"


def check_field(field: pyarrow.Field, path: str) -> None:
    doc = (field.metadata or {}).get(b"doc", b"").decode()
    assert doc.endswith("."), f"{path} has no documentation"
    kind = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
    index = field.type.index_type if pyarrow.types.is_dictionary(field.type) else field.type
    assert not pyarrow.types.is_unsigned_integer(kind), f"{path} is unsigned"
    assert not pyarrow.types.is_unsigned_integer(index), f"{path} has unsigned keys"
    if pyarrow.types.is_list(kind):
        check_field(kind.value_field, f"{path}.{kind.value_field.name}")
    elif pyarrow.types.is_struct(kind):
        for nested in kind:
            check_field(nested, f"{path}.{nested.name}")


METADATA = (
    "schema_version",
    "tool_version",
    "parser_version",
    "definition",
    "dialect",
    "catalogue_sha256",
    "date",
    "rehearsal",
    "part",
)

CHECKS = {
    "duckdb": read_with_duckdb,
    "pandas": read_with_pandas,
    "pyarrow": read_with_pyarrow,
    "polars": read_with_polars,
}

if __name__ == "__main__":
    sys.exit(main())
