/** The service's own form for large uploads takes one file, within its policy. Reference: files.md#large-uploads. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { before, test } from 'node:test';
import { ask, assertGone, assertServed, credentials, uploadUrl } from '../support/files.ts';
import { clockAhead, jumpClock } from '../support/users.ts';
import { allowLarge, newPolicy, type Policy, sendForm, upload } from './large.ts';
import { addSystem, onDisk, usage } from './operator.ts';
import { samples } from './samples.ts';
import { onEachEngine, useOwnFiles } from './stores.ts';

const MINUTE = 60_000;

onEachEngine(
  (files) => {
    const { service } = files;
    before(() => allowLarge(files));
    const refused = ({ status, text }: { status: number; text: string }, what?: string) => {
      assert.equal(status, 403, `${what}: ${text}`);
      assert.match(JSON.parse(text).error, /^unauthorized/, what);
    };
    const typed = ({ status, text }: { status: number; text: string }) =>
      assert.deepEqual([status, JSON.parse(text)], [403, { error: 'Invalid file type' }]);
    /** Asserts that refused requests leave no file. */
    const leavesNothing = async (work: () => Promise<void>) => {
      const stored = await onDisk(service());
      await work();
      assert.deepEqual(await onDisk(service()), stored);
    };

    test('Large upload: no credential but the form itself; smaller than ContentLength passes', async () => {
      const policy = await newPolicy(service(), 'a.txt', 1_000);
      await upload(policy, 'a text');
      await assertServed(uploadUrl(service(), policy.name), 'a text');
    });

    test('the policy bounds the size to ContentLength: to the byte', async () => {
      const exact = await newPolicy(service(), 'a.txt', 6);
      await upload(exact, 'a text');
      await leavesNothing(async () => {
        for (const size of [7, 1_000_000]) {
          const { name, ...form } = await newPolicy(service(), 'a.txt', 6);
          assert.equal((await sendForm(form, 'x'.repeat(size))).status, 413);
          await assertGone(uploadUrl(service(), name));
        }
      });
    });

    test('used twice: 403, and the first file stays', async () => {
      const policy = await newPolicy(service(), 'a.txt', 100);
      await upload(policy, 'first');
      await leavesNothing(async () => {
        refused(await sendForm(policy, 'second'));
        refused(await sendForm(policy, 'first'));
      });
      await assertServed(uploadUrl(service(), policy.name), 'first');
    });

    test('sent many times at once, one is taken', async () => {
      const before = await usage(files);
      const policy = await newPolicy(service(), 'a.txt', 10);
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => sendForm(policy, `text ${n}`)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, ...Array(7).fill(403)]);
      const taken = answers.findIndex(({ status }) => status === 204);
      await assertServed(uploadUrl(service(), policy.name), `text ${taken}`);
      const after = await usage(files);
      assert.deepEqual([after.files, after.bytes], [before.files + 1, before.bytes + 6]);
    });

    test('a policy that is forged: every field changed, left out, or of another policy', async () => {
      await leavesNothing(async () => {
        const [policy, other] = [await newPolicy(service(), 'a.txt', 100), await newPolicy(service(), 'b.txt', 200, 'text/csv')];
        const { url, fields } = policy;
        for (const [field, value] of Object.entries(fields)) {
          const isType = /content-?type/i.test(field);
          const { [field]: _, ...rest } = fields;
          const changed = [`${value}x`, value.slice(1), '', other.fields[field] ?? 'x', ...(isType ? [] : [value.toUpperCase()])];
          for (const one of changed.filter((one) => one !== value)) {
            const answer = await sendForm({ url, fields: { ...fields, [field]: one } }, 'text');
            assert.equal(answer.status, 403, `${field}=${one}: ${answer.text}`);
            if (!isType) refused(answer, `${field}=${one}`);
          }
          assert.equal((await sendForm({ url, fields: rest }, 'text')).status, 403, `without ${field}`);
        }
        refused(await sendForm({ url, fields: {} }, 'text'));
        await upload(policy, 'text');
        await files.call('DELETE', `/platform/files/${encodeURIComponent(policy.name)}`);
      });
    });

    test('another Content-Type than that of the policy: 403 `Invalid file type`', async () => {
      const policy = await newPolicy(service(), 'a.txt', 100);
      const field = Object.keys(policy.fields).find((name) => /^content-?type$/i.test(name));
      assert.ok(field, 'a field says the type, as in the forms of S3');
      await leavesNothing(async () =>
        typed(await sendForm({ ...policy, fields: { ...policy.fields, [field]: 'text/html' } }, 'text')),
      );
    });

    for (const sample of ['elf', 'exe', 'shellScript'] as const)
      test(`executables are refused (${sample}): 403 \`Invalid file type\``, async () => {
        await leavesNothing(async () => {
          const policy = await newPolicy(service(), 'a.dat', 10_000, 'application/octet-stream');
          typed(await sendForm(policy, samples[sample], 'application/octet-stream'));
          await assertGone(uploadUrl(service(), policy.name));
        });
      });

    test('a form without a file, with an empty one, or that is none, is refused', async () => {
      await leavesNothing(async () => {
        const { url, fields } = await newPolicy(service(), 'a.txt', 100);
        const empty = await sendForm({ url, fields }, '');
        assert.deepEqual([empty.status, JSON.parse(empty.text).code], [400, 130]);
        const form = new FormData();
        for (const [name, value] of Object.entries(fields)) form.append(name, value);
        const without = await fetch(url, { method: 'POST', body: form });
        assert.ok(without.status >= 400 && without.status < 500, String(without.status));
        for (const [type, body] of [
          ['application/json', JSON.stringify(fields)],
          ['multipart/form-data', 'x'],
          ['multipart/form-data; boundary=x', '--x\r\nContent-Disp'],
          ['application/x-www-form-urlencoded', new URLSearchParams(fields).toString()],
        ] as const) {
          const { status } = await ask(url, { method: 'POST', headers: { 'Content-Type': type }, body });
          assert.ok(status >= 400 && status < 500, `${type}: ${status}`);
        }
      });
    });

    test('Large upload: fields beside the policy do no harm, unless all are longer than 32 KB together', async () => {
      for (const [more, status] of [
        [2, 204],
        [3, 400],
      ] as const) {
        const policy = await newPolicy(service(), 'a.txt', 100);
        const padding = Array.from({ length: more }, (_, at) => [`more${at}`, 'x'.repeat(12_000)]);
        const answer = await sendForm({ ...policy, fields: { ...policy.fields, ...Object.fromEntries(padding) } }, 'text');
        assert.equal(answer.status, status, answer.text);
      }
    });

    test('the file part last: fields after it, and a second file, change nothing', async () => {
      const { url, fields, name } = await newPolicy(service(), 'a.txt', 100);
      const form = new FormData();
      for (const [field, value] of Object.entries(fields)) form.append(field, value);
      form.append('file', new Blob(['first']), 'a');
      form.append('late', 'x');
      form.append('file', new Blob(['second']), 'b');
      const { status } = await fetch(url, { method: 'POST', body: form });
      if (status === 204) await assertServed(uploadUrl(service(), name), 'first');
      else {
        assert.ok(status >= 400 && status < 500, String(status));
        await assertGone(uploadUrl(service(), name));
      }
    });

    test('what was refused is not counted: files that are on the disk are, to the byte', async () => {
      const sizes = await Promise.all((await onDisk(service())).map(async (path) => (await stat(path)).size));
      const { files: count, bytes } = await usage(files);
      assert.deepEqual([count, bytes], [sizes.length, sizes.reduce((sum, size) => sum + size, 0)]);
    });

    test("Files: another system's policy is not good here", async () => {
      const other = await addSystem(service());
      const at = { ...service(), ...other };
      await files.call('POST', '/platform/classes/Config', {
        as: 'anonymous',
        headers: credentials(at, { as: 'master' }),
        body: { Name: 'allowAllFiles', Value: { allowAllFiles: true } },
      });
      const policy: Policy = await newPolicy(at, 'a.txt', 100);
      await leavesNothing(async () => {
        if (policy.url.includes(other.appId))
          refused(await sendForm({ ...policy, url: policy.url.replaceAll(other.appId, service().appId) }, 'text'));
      });
      await upload(policy, 'theirs');
      await assertServed(uploadUrl(at, policy.name), 'theirs');
      await assertGone(uploadUrl(service(), policy.name));
    });

    test('the policy holds for 15 minutes', async () => {
      const [used, over] = [await newPolicy(service(), 'a.txt', 100), await newPolicy(service(), 'a.txt', 100)];
      await jumpClock(service(), 8 * MINUTE);
      await upload(used, 'after 8 minutes');
      await jumpClock(service(), 8 * MINUTE);
      await leavesNothing(async () => refused(await sendForm(over, 'after 16 minutes')));
      await assertGone(uploadUrl(service(), over.name));
    });
  },
  (engine, kind) => useOwnFiles(engine, kind, clockAhead(0, 8 * MINUTE)),
);
