import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUnavailable, serviceError } from '../errors/fail.ts';
import { DiskFaults } from './disk-faults.ts';

const failing = (error: unknown) => async (): Promise<void> => {
  throw error;
};
const ofSystem = (code: string) => Object.assign(new Error(code), { code });

test('faults of the disk that can pass are unavailable and told, until a write goes well; others stay as they are', async () => {
  const told: string[] = [];
  const faults = new DiskFaults({
    met: (what, about) => told.push(`${what}: ${about?.app}`),
    over: (about, what) => told.push(`${what}: ${about.app} over`),
  });
  for (const code of ['ENOSPC', 'EIO', 'EROFS', 'EMFILE'])
    await assert.rejects(faults.writing({ app: 'a' }, failing(ofSystem(code))), isUnavailable, code);
  await assert.rejects(faults.reading({ app: 'b' }, failing(ofSystem('EIO'))), isUnavailable);
  const others = [new Error('a bug'), ofSystem('EEXIST'), serviceError('fileTooLarge')];
  for (const error of others) await assert.rejects(faults.writing({ app: 'a' }, failing(error)), (thrown) => thrown === error);
  assert.equal(await faults.reading({ app: 'a' }, async () => 'read'), 'read');
  const met = [
    'the disk is full: a',
    'an I/O error: a',
    'the storage is read-only: a',
    'no file descriptors are left: a',
    'an I/O error: b',
  ];
  assert.deepEqual(told, met);
  assert.equal(await faults.writing({ app: 'b' }, async () => 'written'), 'written');
  assert.deepEqual(
    told.slice(met.length),
    met.map((line) => `${line} over`),
  );
  await faults.writing({ app: 'b' }, async () => {});
  assert.equal(told.length, 2 * met.length);
});
