import { sharedServer } from '../../src/storage/postgres/testing/server.ts';
import type { Driver } from '../drivers/driver.ts';
import { ownConnections, pgPipelined, pgPool } from '../drivers/pg.ts';
import { postgresPackage } from '../drivers/postgres.ts';
import type { BenchContext } from '../support/context.ts';
import { makeRecord, spread } from '../support/records.ts';
import { count, median, note, printTable, ratio } from '../support/report.ts';

const callers = 32;
const connections = 8;
const batch = 50;
const schema = 'rds_bench_driver';
const columns = '"id", "Name", "PhoneNumber", "Email", "City", "Comment", "Amount", "Score", "Quantity", "Tags"';

const readOne = `SELECT ${columns} FROM ${schema}.t WHERE "id" = $1`;
const list = `SELECT ${columns} FROM ${schema}.t WHERE "Amount" >= $1 ORDER BY "Amount" LIMIT 100`;
const insert = `INSERT INTO ${schema}.t (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** PostgreSQL drivers for Node, alternately: point reads, lists, single inserts, and 50 inserts per transaction. */
export async function driver({ records = 20_000, seconds, rounds }: BenchContext): Promise<void> {
  const given = process.env.DATABASE_URL;
  const server = given ? { url: given, close: async () => {} } : await sharedServer();
  const drivers = await Promise.all([
    pgPool(server.url, connections),
    pgPipelined(server.url, connections),
    ownConnections(server.url, 12),
    postgresPackage(server.url, connections),
    postgresPackage(server.url, 2),
  ]);
  const present = drivers.filter((each) => each !== null);
  if (present.length < drivers.length) note('the package `postgres` is not installed: it is left out');
  const [first] = present as [Driver];
  try {
    await prepare(first, records);
    await measure(present, records, seconds, rounds);
  } finally {
    await first.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`, []);
    await Promise.all(present.map((each) => each.end()));
    await server.close();
  }
}

async function prepare(writer: Driver, records: number): Promise<void> {
  await writer.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`, []);
  await writer.query(`CREATE SCHEMA ${schema}`, []);
  const texts = ['Name', 'PhoneNumber', 'Email', 'City', 'Comment'].map((name) => `"${name}" text COLLATE "C"`);
  const numbers = ['Amount', 'Score', 'Quantity'].map((name) => `"${name}" double precision`);
  const all = ['"id" text COLLATE "C" PRIMARY KEY', ...texts, ...numbers, '"Tags" json'];
  await writer.query(`CREATE TABLE ${schema}.t (${all.join(', ')})`, []);
  await writer.query(`CREATE INDEX ON ${schema}.t ("Amount")`, []);
  for (let at = 0; at < records; at += 1000) {
    const size = Math.min(1000, records - at);
    await writer.transaction(
      insert,
      Array.from({ length: size }, (_, index) => row(at + index)),
    );
  }
  await writer.query(`ANALYZE ${schema}.t`, []);
  note(`${count(records)} rows written`);
}

function row(seed: number): (string | number)[] {
  const made = makeRecord(seed) as Record<string, string | number>;
  const values = columns.split(', ').slice(1, -1);
  return [`id${seed}`, ...values.map((name) => made[name.slice(1, -1)] as string | number), JSON.stringify(made.Tags)];
}

async function measure(drivers: readonly Driver[], records: number, seconds: number, rounds: number): Promise<void> {
  let seed = 0;
  let added = records;
  const operations: [string, number, (each: Driver) => Promise<unknown>][] = [
    ['read one', 1, (each) => each.query(readOne, [`id${spread(seed++, records)}`])],
    ['list 100', 1, (each) => each.query(list, [spread(seed++, 900_000)])],
    ['insert one', 1, (each) => each.query(insert, row(added++))],
    [
      `insert ${batch} in a transaction`,
      batch,
      (each) =>
        each.transaction(
          insert,
          Array.from({ length: batch }, () => row(added++)),
        ),
    ],
  ];
  for (const [name, size, operation] of operations) {
    const rates = new Map(drivers.map((each) => [each, [] as number[]]));
    const costs = new Map(drivers.map((each) => [each, [] as number[]]));
    for (const each of drivers) await run(() => operation(each), 0.3);
    for (let round = 0; round < rounds; round++) {
      for (const each of drivers) {
        const { perSecond, cost } = await run(() => operation(each), seconds);
        rates.get(each)?.push(perSecond * size);
        costs.get(each)?.push(cost / size);
      }
    }
    note(`${name} done`);
    const base = median(rates.get(drivers[0] as Driver) ?? []);
    const rows = drivers.map((each) => {
      const rate = median(rates.get(each) ?? []);
      return [each.name, count(rate), ratio(rate / base), `${median(costs.get(each) ?? []).toFixed(1)} µs`];
    });
    printTable(`driver: ${name}, ${callers} callers, medians of ${rounds}`, ['', 'a second', '', 'CPU of ours'], rows);
  }
}

async function run(operation: () => Promise<unknown>, seconds: number): Promise<{ perSecond: number; cost: number }> {
  const began = performance.now();
  const end = began + seconds * 1000;
  const used = process.cpuUsage();
  let done = 0;
  const call = async () => {
    while (performance.now() < end) {
      await operation();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const { user, system } = process.cpuUsage(used);
  return { perSecond: (done * 1000) / (performance.now() - began), cost: (user + system) / done };
}
