import pg from 'pg';
import { connectDatabase } from '../../src/storage/postgres/connection/connect-database.ts';
import type { Driver } from './driver.ts';

type Values = (string | number)[];

const names = new Map<string, string>();

function named(text: string, values: readonly (string | number)[]) {
  let name = names.get(text);
  if (name === undefined) {
    name = `s${names.size}`;
    names.set(text, name);
  }
  return { name, text, values: [...values] as Values, rowMode: 'array' as const };
}

/** `pg` as commonly used: a pool with one statement at a time per connection. */
export function pgPool(url: string, connections: number): Driver {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  return {
    name: `pg, pool of ${connections}`,
    query: async (text, values) => (await pool.query(named(text, values))).rows,
    async transaction(text, values) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        for (const each of values) await client.query(named(text, each));
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    },
    end: () => pool.end(),
  };
}

/** `pg` in its pipeline mode, through its own query method: two connections for statements, the remaining ones for transactions. */
export async function pgPipelined(url: string, connections: number): Promise<Driver> {
  const made = Array.from({ length: connections }, () => new pg.Client({ connectionString: url, pipeline: true }));
  const clients = await Promise.all(made.map((client) => client.connect()));
  const free = clients.slice(2);
  const waiting: ((client: pg.Client) => void)[] = [];
  let next = 0;
  return {
    name: `pg, pipelined, ${connections}`,
    async query(text, values) {
      next = (next + 1) % 2;
      return (await (clients[next] as pg.Client).query(named(text, values))).rows;
    },
    async transaction(text, values) {
      const client = free.pop() ?? (await new Promise<pg.Client>((resolve) => waiting.push(resolve)));
      await Promise.all([
        client.query('BEGIN'),
        ...values.map((each) => client.query(named(text, each))),
        client.query('COMMIT'),
      ]);
      const waiter = waiting.shift();
      if (waiter) waiter(client);
      else free.push(client);
    },
    end: async () => void (await Promise.all(clients.map((client) => client.end()))),
  };
}

/** The service's own connections: pipelined `pg` that batches the statements of a turn and builds rows without its result objects. */
export async function ownConnections(url: string, connections: number): Promise<Driver> {
  const database = await connectDatabase(url, { timeLimit: 30_000, connections });
  return {
    name: "the service's",
    query: (text, params) =>
      text.startsWith('INSERT') ? database.atomically([{ text, params }]) : database.short({ text, params }),
    transaction: (text, values) => database.atomically(values.map((params) => ({ text, params }))),
    end: () => database.close(),
  };
}
