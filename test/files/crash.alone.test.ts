/** SIGKILL during uploads, attachments and deletions: acknowledged files are complete, and nothing is half stored. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startS3 } from '../../src/files/testing/s3-server.ts';
import { makeData } from '../support/data.ts';
import {
  ask,
  assertGone,
  assertServed,
  deleteFile,
  fileObject,
  publicUrl,
  upload,
  uploadFile,
  uploadUrl,
} from '../support/files.ts';
import { path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { operate, usage } from './operator.ts';
import { settingsOfS3, usual } from './stores.ts';

const cycles = Number(process.env.CRASH_CYCLES ?? 2);
const writers = 4;
const SIZE = 200_000;

/** Acknowledged state of a file. */
interface Known {
  name: string;
  bytes: Buffer;
  state: 'uploaded' | 'attached' | 'deleted';
  /** The last request, if it was not answered. */
  pending?: 'attached' | 'deleted' | undefined;
}

/** Uploads, attaches and deletes files until the service is killed. */
async function workUntilGone(service: ServiceProcess, lane: number, all: Known[]): Promise<void> {
  const expected = (status: number, wanted: number, text: string) => assert.equal(status, wanted, text);
  for (let n = 0; ; n++)
    try {
      const bytes = Buffer.alloc(SIZE, `lane ${lane}, file ${all.length}, `);
      const made = await upload(service, 'a.txt', bytes);
      expected(made.status, 201, made.text);
      const known: Known = { name: made.body.name, bytes, state: 'uploaded' };
      all.push(known);
      if (n % 2 === 0) {
        known.pending = 'attached';
        const answer = await service.call('POST', path('Crash'), { body: { F: fileObject(made.body) } });
        expected(answer.status, 201, answer.text);
        known.state = 'attached';
      }
      if (n % 3 === 0) {
        known.pending = 'deleted';
        const answer = await deleteFile(service, known.name);
        expected(answer.status, 200, answer.text);
        known.state = 'deleted';
      }
      known.pending = undefined;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
}

/** Uploads a file that stays, as in stores.ts. */
async function first(service: ServiceProcess): Promise<Known> {
  const bytes = Buffer.alloc(SIZE, 'the first, ');
  const file = await uploadFile(service, 'a.txt', bytes);
  const answer = await service.call('POST', path('Crash'), { body: { F: fileObject(file) } });
  assert.equal(answer.status, 201, answer.text);
  return { name: file.name, bytes, state: 'attached' };
}

/** Compares stored files with acknowledged ones. */
async function verify(service: ServiceProcess, all: readonly Known[]): Promise<void> {
  const { body } = await service.call('GET', path('Crash'), { query: { limit: 1_000_000 } });
  const held = new Set(body.results.map(({ F }: { F: { name: string } }) => F.name));
  for (const { name, bytes, state, pending } of all) {
    const at = [uploadUrl(service, name), publicUrl(service, name)] as const;
    if (state === 'deleted') await Promise.all(at.map((url) => assertGone(url)));
    else if (pending === 'deleted') {
      const { status, bytes: got } = await ask(at[0]);
      assert.ok(status === 404 || (status === 200 && got.equals(bytes)), `${name}: ${status}`);
    } else await assertServed(at[0], bytes);
    if (state === 'attached') assert.ok(held.has(name));
    // A record and its file agree.
    if (state !== 'deleted' && pending !== 'deleted') assert.equal((await ask(at[1])).status, held.has(name) ? 200 : 404);
  }
}

for (const [engine, kind] of usual)
  if (engines.includes(engine))
    describe(`crash (${engine}, ${kind})`, () => {
      test(`Files: ${cycles} kills in the middle of uploads lose and halve nothing`, {
        timeout: 60_000 + cycles * 20_000,
      }, async (t) => {
        const data = await makeData(engine);
        const s3 = kind === 's3' ? await startS3() : undefined;
        const env = s3 ? settingsOfS3(s3) : {};
        let service = await startServiceProcess({ ...data, env });
        const all: Known[] = [];
        try {
          const fields = { F: { type: 'File' } };
          await service.call('POST', '/platform/schemas/Crash', { body: { className: 'Crash', fields } });
          all.push(await first(service));
          for (let cycle = 1; cycle <= cycles; cycle++) {
            const fresh: Known[] = [];
            const running = Promise.all(Array.from({ length: writers }, (_, lane) => workUntilGone(service, lane, fresh)));
            await sleep(200 + Math.random() * 500);
            // A busy machine may need longer for the first uploads.
            await soon(async () => assert.ok(fresh.length >= 2), 10_000);
            await service.kill();
            await running;
            service = await startServiceProcess({ ...data, env });
            await verify(service, fresh);
            all.push(...fresh);
          }
          assert.ok(all.length > cycles, `only ${all.length} uploads were acknowledged: the test tested nothing`);
          const of = { service: () => service, env: () => env };
          const { files, bytes } = await usage(of);
          const minFiles = all.filter(({ state, pending }) => state !== 'deleted' && pending !== 'deleted').length;
          assert.equal(bytes, files * SIZE);
          assert.ok(files >= minFiles && files <= all.length + cycles * writers, `${minFiles} ≤ ${files}`);
          await operate(of, ['sweep', '--days', '0']);
          const rest = await usage(of);
          const held = await service.call('GET', path('Crash'), { query: { limit: 1_000_000 } });
          const names: string[] = held.body.results.map(({ F }: { F: { name: string } }) => F.name);
          const there = await Promise.all(names.map(async (name) => (await ask(publicUrl(service, name))).status === 200));
          assert.deepEqual([rest.files, rest.bytes], [there.filter(Boolean).length, there.filter(Boolean).length * SIZE]);
          t.diagnostic(`${all.length} acknowledged uploads over ${cycles} kills`);
          assert.equal(await service.stop(), 0);
        } finally {
          if (service.process.exitCode === null && service.process.signalCode === null) await service.kill();
          await s3?.stop();
          await data.remove();
        }
      });
    });
