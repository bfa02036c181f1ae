/** Files on an S3 that is slow and then away, beside writers and readers of records. Reference: faults.md#passing-faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { settingsOfS3 } from '../files/stores.ts';
import { ask, assertServed, upload } from '../support/files.ts';
import { sampledEngines } from '../support/service.ts';
import { UNAVAILABLE } from './answers.ts';
import { besideFault } from './world.ts';

for (const engine of sampledEngines())
  test(`S3 is slow, then away: files are refused, records go on, and it all works again (${engine})`, async () => {
    const s3 = await startS3();
    try {
      await besideFault({
        engine,
        env: settingsOfS3(s3),
        expect: { writes: 'work', reads: 'work', ready: 'ready' },
        async fault({ service }) {
          const file = await upload(service, 'a.txt', 'text', { as: 'master' });
          assert.equal(file.status, 201, file.text);
          const behind = s3.intercept;
          s3.intercept = (_, response) => {
            setTimeout(() => response.destroy(), 1_500);
            return true;
          };
          const slow = Promise.all([upload(service, 'b.txt', 'text', { as: 'master' }), ask(file.body.url)]);
          await wait(1_000);
          s3.intercept = behind;
          for (const { status } of await slow) assert.ok([200, 201, 503].includes(status), String(status));
          await s3.down();
          const [refused, unread] = [await upload(service, 'c.txt', 'text', { as: 'master' }), await ask(file.body.url)];
          assert.deepEqual([refused.status, refused.text], [503, UNAVAILABLE]);
          assert.deepEqual([unread.status, unread.text], [503, UNAVAILABLE]);
          assert.match(String(refused.headers['retry-after']), /^\d+$/);
          await s3.up();
          await assertServed(file.body.url, 'text');
          const again = await upload(service, 'd.txt', 'again', { as: 'master' });
          assert.equal(again.status, 201, again.text);
          await assertServed(again.body.url, 'again');
        },
      });
    } finally {
      await s3.stop();
    }
  });
