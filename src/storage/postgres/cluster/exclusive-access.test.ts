import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesOf } from '../../sql/testing/addresses.ts';
import { PostgresEngine } from '../engine.ts';
import { testDatabase } from '../testing/server.ts';

const settings = { timeLimit: 10_000, connections: 4, report: () => {}, addressesOf };

test('exclusive access to the database is alone: no other may begin, and it may not begin where others are', async () => {
  const { url, drop } = await testDatabase();
  const named = new URL(url);
  named.searchParams.set('application_name', 'another name');
  const open: PostgresEngine[] = [];
  const connect = async (at: string, alone = false) => {
    const engine = await PostgresEngine.connect(at, { ...settings, alone });
    open.push(engine);
    return engine;
  };
  try {
    const service = await connect(named.href);
    await connect(url);
    await assert.rejects(connect(url, true), /services or commands use this database/);
    await open.pop()?.close();
    await assert.rejects(connect(url, true), /services or commands use this database/);
    await service.close();
    await connect(url, true);
    for (const alone of [false, true])
      await assert.rejects(
        connect(url, alone),
        alone ? /services or commands use this database/ : /a move of this database is under way/,
      );
    await open.pop()?.close();
    await connect(url);
  } finally {
    await Promise.all(open.map((engine) => engine.close()));
    await drop();
  }
});
