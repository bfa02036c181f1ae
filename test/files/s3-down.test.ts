/**
 * Without S3, uploads and reads are 503 code 1; requests that need no bytes succeed; all works again once S3 is back. Reference:
 * faults.md#passing-faults.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, assertGone, assertServed, assertUnknownFile, deleteFile, fileObject, upload, uploadUrl } from '../support/files.ts';
import { assertRefused } from '../support/records.ts';
import { usage } from './operator.ts';
import { bothStores, onEachStore } from './stores.ts';

const away = { status: 503, code: 1, error: 'server error: the service is not available now' };

onEachStore(
  (files) => {
    const { service } = files;

    test('S3 is down: uploads and reads are 503, records go on; then it is back', async () => {
      const file = await files.upload('a.txt', 'text');
      const used = await usage(files);
      await files.s3().down();
      try {
        assertRefused(await upload(service(), 'b.txt', 'text'), away);
        assertRefused(await ask(file.url), away);
        const { table, id } = await files.attached('File', file);
        assert.equal((await files.read(table, id)).F.name, file.name);
        assertUnknownFile(await files.post(table, { F: { __type: 'File', name: 'never' } }));
      } finally {
        await files.s3().up();
      }
      await assertServed(file.url, 'text');
      await assertServed((await files.upload('b.txt', 'again')).url, 'again');
      const { files: count, bytes } = await usage(files);
      assert.deepEqual([count, bytes], [used.files + 1, used.bytes + 5]);
    });

    test('S3 is down: a delete never shows the file again', async () => {
      const { name, url } = await files.upload('a.txt', 'text');
      const table = await files.table({ F: 'File' });
      await files.s3().down();
      const { status } = await deleteFile(service(), name).finally(() => files.s3().up());
      assert.ok([200, 503].includes(status), String(status));
      await assertGone(uploadUrl(service(), name));
      assertUnknownFile(await files.post(table, { F: fileObject({ name, url }) }));
      assert.equal((await deleteFile(service(), name)).status, 200);
    });
  },
  bothStores.filter(([, kind]) => kind === 's3'),
);
