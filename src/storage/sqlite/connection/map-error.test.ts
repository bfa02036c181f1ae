import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInDoubt, isUnavailable, serviceError } from '../../../errors/fail.ts';
import { inDoubtSince } from '../../../errors/system-faults.ts';
import { failedAfterWriting, mapError, receivedFault, sentFault, storeFaultOf } from './map-error.ts';

/** What each primary result code (https://sqlite.org/rescode.html) is mapped to. `null`: caused by a client, or a programming error. */
const primary: Readonly<Record<string, readonly [code: number, kind: string | null]>> = {
  ERROR: [1, null],
  INTERNAL: [2, null],
  PERM: [3, 'the storage is read-only'],
  ABORT: [4, null],
  BUSY: [5, 'the store is busy'],
  LOCKED: [6, 'the store is busy'],
  NOMEM: [7, 'no memory is left'],
  READONLY: [8, 'the storage is read-only'],
  INTERRUPT: [9, null],
  IOERR: [10, 'an I/O error'],
  CORRUPT: [11, 'the store is damaged'],
  NOTFOUND: [12, null],
  FULL: [13, 'the disk is full'],
  CANTOPEN: [14, 'the store cannot be opened'],
  PROTOCOL: [15, 'the store is busy'],
  EMPTY: [16, null],
  SCHEMA: [17, null],
  TOOBIG: [18, null],
  CONSTRAINT: [19, null],
  MISMATCH: [20, null],
  MISUSE: [21, null],
  NOLFS: [22, 'the disk is full'],
  AUTH: [23, null],
  FORMAT: [24, null],
  RANGE: [25, null],
  NOTADB: [26, 'the store is damaged'],
};

const sqliteError = (errcode: number) =>
  Object.assign(new Error('what SQLite says'), { code: 'ERR_SQLITE_ERROR', errcode, errstr: '' });

test('each primary result code of SQLite, and what extends it, is one kind of fault, or none', () => {
  for (const [name, [code, kind]] of Object.entries(primary)) {
    for (const errcode of [code, code | (60 << 8)]) {
      const error = sqliteError(errcode);
      assert.equal(storeFaultOf(error)?.kind ?? null, kind, name);
      const mapped = mapError(error);
      if (kind === null) assert.equal(mapped, error, name);
      else assert.ok(isUnavailable(mapped) && (mapped as Error).cause === error, name);
    }
  }
});

test('extended codes that say more', () => {
  const kinds = [1032, 3082, 4874, 8202, 522, 266].map((code) => storeFaultOf(sqliteError(code))?.kind);
  assert.deepEqual(kinds, [
    'the store is missing',
    'no memory is left',
    'the disk is full',
    'the store is damaged',
    'an I/O error',
    'an I/O error',
  ]);
});

test('a file is to be opened again after what may have broken the connection, and only then', () => {
  const broken = Object.entries(primary).filter(([, [code]]) => storeFaultOf(sqliteError(code))?.isBroken);
  assert.deepEqual(
    broken.map(([name]) => name),
    ['PERM', 'READONLY', 'IOERR', 'CORRUPT', 'CANTOPEN', 'NOTADB'],
  );
});

test('faults of the operating system and of a closed connection pass; others are as they are', () => {
  assert.equal(storeFaultOf(Object.assign(new Error(), { code: 'ENOSPC' }))?.kind, 'the disk is full');
  assert.equal(storeFaultOf(Object.assign(new Error(), { code: 'EMFILE' }))?.kind, 'no file descriptors are left');
  assert.equal(storeFaultOf(Object.assign(new Error(), { code: 'ERR_INVALID_STATE' }))?.isBroken, true);
  for (const error of [
    new Error('x'),
    new TypeError('y'),
    null,
    undefined,
    'text',
    Object.assign(new Error(), { code: 'ENOENT' }),
  ])
    assert.equal(storeFaultOf(error), null);
  const refusal = serviceError('objectNotFound');
  assert.equal(mapError(refusal), refusal);
});

test('a fault is known again after it was mapped, and after it came from a thread', () => {
  const mapped = mapError(sqliteError(10 | (4 << 8)));
  assert.deepEqual(storeFaultOf(mapped), { kind: 'an I/O error', code: 1034, isBroken: true });
  assert.deepEqual(storeFaultOf(receivedFault(structuredClone(sentFault(mapped)))), storeFaultOf(mapped));
  assert.ok(isInDoubt(inDoubtSince(mapped)));
  assert.deepEqual(storeFaultOf(inDoubtSince(mapped)), storeFaultOf(mapped));
});

test('a COMMIT may have written all that it had to where a flush or the index of the log failed', () => {
  const codes = { READ: 266, SHORT_READ: 522, WRITE: 778, FSYNC: 1034, DIR_FSYNC: 1290, TRUNCATE: 1546, SHMSIZE: 4874, FULL: 13 };
  const after = Object.entries(codes).filter(([, code]) => failedAfterWriting(sqliteError(code)));
  assert.deepEqual(
    after.map(([name]) => name),
    ['FSYNC', 'DIR_FSYNC', 'SHMSIZE'],
  );
});
