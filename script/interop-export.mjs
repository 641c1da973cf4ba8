// Compares what DuckDB reads from exports in Parquet and CSV with pages.jsonl: see script/interop.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

execFileSync("./weft", ["demo", "-q", "--job", "demo"]);
execFileSync("./weft", ["export", "demo", "-o", "pages.parquet"]);
const records = fs.readFileSync("demo/pages.jsonl", "utf8").trimEnd().split("\n").map((l) => JSON.parse(l));

const db = await (await DuckDBInstance.create()).connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();

const pages = await rows("SELECT * FROM 'pages.parquet' ORDER BY url");
records.sort((a, b) => (a.url < b.url ? -1 : 1));
assert.equal(pages.length, records.length);
for (const [i, r] of records.entries()) {
  for (const name of ["url", "title", "redirect", "error_kind", "content_type", "sha256"]) {
    assert.equal(pages[i][name], r[name] ?? null, `${r.url}: ${name}`);
  }
  for (const name of ["status", "depth", "bytes", "total_ms"]) {
    assert.equal(pages[i][name] === null ? null : Number(pages[i][name]), r[name] ?? null, `${r.url}: ${name}`);
  }
}
const types = await rows("DESCRIBE SELECT url, status, total_ms, pruned, started, robots FROM 'pages.parquet'");
assert.deepEqual(
  types.map((t) => t.column_type),
  ["VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP WITH TIME ZONE", "VARCHAR[]"],
);
const [{ late }] = await rows("SELECT max(abs(epoch_ms(started) - epoch_ms(now()))) < 600000 AS late FROM 'pages.parquet'");
assert.equal(late, true);
console.log(`DuckDB: ${pages.length} rows of Parquet are those of pages.jsonl`);
