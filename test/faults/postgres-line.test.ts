/** The connection to PostgreSQL is cut, silent, slow: each time all goes on within two seconds of the end. Reference: faults.md#passing-faults. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines } from '../support/service.ts';
import { useLine } from './line.ts';

const AWAY = 'the database cannot be reached';
/** How long the line is silent: longer than the time limits of requests to the database. */
const SILENT_MS = Number(process.env.FAULT_MS ?? 2_500);

if (engines.includes('postgres'))
  describe('the line to PostgreSQL', { timeout: 120_000 }, () => {
    const line = useLine();

    // A condition that recurs within five seconds is one condition: the following faults begin none.
    test('refused: all is 503 meanwhile', async () => {
      await line.world.beside({
        name: 'refused',
        expect: { writes: 'fail', reads: 'fail', ready: 'unavailable', condition: AWAY },
        async fault() {
          line.proxy.refuse();
          line.proxy.cut();
          await wait(1_500);
          await line.proxy.accept();
        },
      });
    });

    test('all connections cut, again and again', async () => {
      await line.world.beside({
        name: 'cut',
        async fault() {
          let cut = 0;
          for (let round = 0; round < 8; round++) {
            cut += line.proxy.cut();
            await wait(100);
          }
          assert.ok(cut >= 8, `${cut} connections were cut`);
        },
      });
    });

    test('all backends terminated, again and again', async () => {
      const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      await line.world.beside({
        name: 'terminated',
        async fault() {
          let ended = 0;
          for (let round = 0; round < 7; round++) {
            ended += (await line.sql(terminate)).length;
            await wait(100);
          }
          assert.ok(ended >= 7, `${ended} backends were terminated`);
        },
      });
    });

    test('a black hole, then cut', async () => {
      await line.world.beside({
        name: 'black hole',
        expect: { ready: 'unavailable' },
        async fault() {
          line.proxy.silence();
          await wait(SILENT_MS);
          line.proxy.cut();
          line.proxy.speak();
        },
      });
    });

    test('a black hole that ends: what was held back arrives', async () => {
      await line.world.beside({
        name: 'silence',
        expect: { ready: 'unavailable' },
        async fault() {
          line.proxy.silence();
          await wait(SILENT_MS);
          line.proxy.speak();
        },
      });
    });

    test('a black hole; the connections from before stay silent for ever', async () => {
      await line.world.beside({
        name: 'stranded',
        expect: { ready: 'unavailable' },
        async fault() {
          line.proxy.silence();
          await wait(SILENT_MS);
          assert.ok(line.proxy.strand() > 0, 'there are connections');
        },
      });
      line.proxy.cut();
    });

    test('connections that fall silent while others may be made: requests go on within two seconds', async () => {
      await line.world.beside({
        name: 'stranded at once',
        async fault() {
          assert.ok(line.proxy.strand() > 0, 'there are connections');
        },
      });
      line.proxy.cut();
    });

    test('a slow line: all is done, none is in doubt', async () => {
      await line.world.beside({
        name: 'slow',
        expect: { writes: 'work', reads: 'work', ready: 'ready', condition: null },
        async fault() {
          line.proxy.delayMs = 60;
          await wait(1_200);
          line.proxy.delayMs = 0;
        },
      });
    });
  });
