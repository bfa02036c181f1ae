import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPassing, ServiceError, serviceError } from '../../../errors/fail.ts';
import {
  CommitUnknown,
  isConnectionError,
  isLockTimeout,
  isOfNode,
  isSchemaStale,
  isStatementForgotten,
  isStatementLocal,
  isTimeout,
  lostNodeOf,
  mapReadError,
  mapWriteError,
  mayRetry,
  mayRetryRead,
  NotSent,
  passingFaultOf,
  StatementFailed,
} from './map-error.ts';
import { markLostNode, NodeUnanswered, restoreCode } from './node-errors.ts';
import { isOutOfRange, isTooLarge, isValueError, violatedColumn, violatedConstraint } from './value-errors.ts';

const kinds = {
  lost: isConnectionError,
  timeout: isTimeout,
  forgotten: isStatementForgotten,
  stale: isSchemaStale,
  retry: mayRetry,
  range: isOutOfRange,
  large: isTooLarge,
};

function error(code: string, message = 'text', more: object = {}): Error {
  return Object.assign(new Error(message), { code, severity: 'ERROR' }, more);
}

const fatal = (code: string): Error => error(code, 'text', { severity: 'FATAL' });

const table: readonly (readonly [Error, ...(keyof typeof kinds)[]])[] = [
  [fatal('08006'), 'lost'],
  [error('08P01', 'bind message supplies 1 parameters')],
  [error('08P01', 'invalid frontend message', { severity: 'FATAL' }), 'lost'],
  [error('57P01', 'terminating connection', { severity: 'FATAL' }), 'lost'],
  [fatal('57P02'), 'lost'],
  [fatal('57P03'), 'lost'],
  [fatal('53300'), 'lost'],
  [error('25P03'), 'lost'],
  [error('25006'), 'lost'],
  [error('ECONNREFUSED'), 'lost'],
  [error('ECONNRESET'), 'lost'],
  [error('EPIPE'), 'lost'],
  [error('ETIMEDOUT'), 'lost'],
  [error('ENOTFOUND'), 'lost'],
  [new Error('Connection terminated unexpectedly'), 'lost'],
  [new Error('Client has encountered a connection error and is not queryable'), 'lost'],
  [new Error('Connection terminated: no answer in time'), 'lost'],
  [new Error('of ours')],
  [new TypeError('Connection is not a constructor')],
  [error('57014'), 'timeout'],
  [serviceError('timeout'), 'timeout'],
  [error('26000'), 'forgotten', 'retry'],
  [error('0A000', 'cached plan must not change result type'), 'forgotten', 'retry', 'stale'],
  [error('0A000', 'no such feature'), 'stale'],
  [error('42P01'), 'stale'],
  [error('42703'), 'stale'],
  [error('42804'), 'stale'],
  [error('42883'), 'stale'],
  [error('22P02'), 'stale'],
  [error('3F000'), 'stale'],
  [error('42P07'), 'stale'],
  [error('42701'), 'stale'],
  [error('XX000', 'could not open relation with OID 16384'), 'stale'],
  [error('XX000', 'cache lookup failed for relation 16384'), 'stale'],
  [error('XX000', 'unexpected node')],
  [error('42601')],
  [error('40P01'), 'retry'],
  [error('40001'), 'retry'],
  [error('55P03'), 'retry'],
  [error('22003'), 'range'],
  [error('54000'), 'large'],
  [error('54001'), 'large'],
  [error('54011'), 'large'],
  [error('23505')],
];

test('every error is of its kinds, alone and as the cause of a failed statement', () => {
  for (const [cause, ...expected] of table) {
    for (const seen of [cause, new StatementFailed(2, cause)]) {
      const found = Object.entries(kinds)
        .filter(([, is]) => is(seen))
        .map(([kind]) => kind);
      assert.deepEqual(found.toSorted(), expected.toSorted(), `${(cause as Error & { code?: string }).code}: ${cause.message}`);
    }
  }
  for (const is of Object.values(kinds)) for (const nothing of [undefined, null, 'text', {}]) assert.equal(is(nothing), false);
});

test('the constraint that a row violates', () => {
  assert.equal(violatedConstraint(error('23505', 'duplicate key', { constraint: 't_pkey' })), 't_pkey');
  assert.equal(violatedConstraint(new StatementFailed(0, error('23505', 'duplicate key', { constraint: 't_pkey' }))), 't_pkey');
  assert.equal(violatedConstraint(error('23503', 'foreign key', { constraint: 'f' })), undefined);
  // As a coordinator passes it on.
  const ofShard = error('23505', 'duplicate key value violates unique constraint "x~t_T~one_102008"', {});
  assert.equal(violatedConstraint(ofShard), 'x~t_T~one_102008');
  assert.equal(violatedConstraint(error('23505', 'la contrainte unique « x~t_T~one_102008 »', {})), 'x~t_T~one_102008');
  assert.equal(violatedConstraint(error('23505', 'duplicate key "u~t_T_102008"', {})), '');
});

test('the column that a row violates, where the constraint is not named', () => {
  const duplicate = (detail: string) => violatedColumn(new StatementFailed(0, error('23505', 'duplicate key', { detail })));
  assert.equal(duplicate('Key ("objectId")=(a"b) already exists.'), 'objectId');
  assert.equal(duplicate('Key (_username_key)=((x)=(y)) already exists.'), '_username_key');
  assert.equal(duplicate('Schlüssel »("a""b")=(1)« existiert bereits.'), 'a"b');
  assert.equal(duplicate('Key (owner, member)=(1, 2) already exists.'), undefined);
  assert.equal(violatedColumn(error('23505')), undefined);
});

const passing: Readonly<Record<string, readonly string[]>> = {
  'the database cannot be reached':
    '08000 08001 08003 08004 08006 08007 57P01 57P02 57P03 57P04 57P05 25P03 25P04 ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN ENOENT'.split(
      ' ',
    ),
  'the disk is full': ['53100', 'ENOSPC'],
  'the database has no room': ['53000', '53200', '53300', '53400'],
  'the storage is read-only': ['25006', 'EROFS'],
  'the database refuses for now': '57000 57014 40000 40001 40002 40003 40P01 55P03'.split(' '),
  'an I/O error': ['58000', '58030', '58P01', '58P02', 'EIO'],
  'the store is missing': ['3F000'],
  'the store is damaged': ['XX001', 'XX002'],
  'no file descriptors are left': ['EMFILE', 'ENFILE'],
};

/** One SQLSTATE of each other class. */
const lasting =
  '03000 08P01 09000 0A000 0B000 0F000 0L000 0P000 0Z000 20000 21000 22012 23505 24000 25001 26000 27000 28000 2B000 2D000 2F000 34000 38000 39000 3B000 3D000 42601 44000 54000 55000 55006 F0000 HV000 P0001 XX000'.split(
    ' ',
  );

test('faults that can pass are unavailable, with their kind; all else stays as it is', () => {
  for (const [kind, codes] of Object.entries(passing))
    for (const code of codes) {
      const cause = kind === 'the database cannot be reached' || code === '53300' ? fatal(code) : error(code);
      const seen = mapWriteError(cause);
      assert.ok(seen instanceof ServiceError && seen.key === 'unavailable' && seen.status === 503, code);
      assert.equal(seen.cause, cause);
      for (const one of [cause, seen, new StatementFailed(1, seen), new CommitUnknown(cause)])
        assert.equal(passingFaultOf(one), kind, `${code} ${one}`);
      assert.ok(isPassing(mapReadError(cause)));
    }
  for (const code of lasting)
    for (const one of [mapWriteError, mapReadError]) {
      const cause = error(code);
      assert.equal(one(cause), cause, code);
      assert.equal(passingFaultOf(cause), null, code);
    }
});

test('the cause of a write in doubt decides nothing: it is no conflict, no lock, no time limit and no refusal', () => {
  const found = [...table.map(([cause]) => cause), error('57014'), error('53200'), error('23505'), error('22P02')].flatMap(
    (cause) =>
      Object.entries({
        ...kinds,
        lock: isLockTimeout,
        local: isStatementLocal,
        value: isValueError,
        constraint: violatedConstraint,
      })
        .filter(([kind, is]) => kind !== 'lost' && is(new CommitUnknown(cause)))
        .map(([kind]) => `${kind} ${cause.message}`),
  );
  assert.deepEqual(found, []);
});

test('what a node reports is of its systems alone, whatever it is', () => {
  for (const code of ['25006', '53100', '57014', '40P01']) {
    const cause = error(code, 'text', { where: 'while executing command on 127.0.0.1:9701' });
    assert.deepEqual([isOfNode(cause), isConnectionError(cause)], [true, false], code);
    assert.equal(isOfNode(error(code)), false, code);
  }
});

/** Errors of a coordinator about its nodes, as Citus 13.2 words them. */
const ofNodes: readonly (readonly [Error, string])[] = [
  [
    error('08006', 'connection to the remote node postgres@10.0.0.2:5432 failed with the following error: Connection refused'),
    '10.0.0.2:5432',
  ],
  [error('57P01', 'terminating connection', { where: 'while executing command on worker-2.local:9702' }), 'worker-2.local:9702'],
  [error('57P03', 'the database system is starting up', { where: 'while executing command on ::1:9702' }), '::1:9702'],
  [error('XX000', 'failure on connection marked as essential: 127.0.0.1:9702'), '127.0.0.1:9702'],
  [error('XX000', 'could not commit transaction for shard 102008 on any active node'), ''],
  [error('XX000', '', { where: 'while executing command on 127.0.0.1:9701' }), '127.0.0.1:9701'],
  [new NodeUnanswered('127.0.0.1:9701'), '127.0.0.1:9701'],
];

test('a node that a coordinator has lost is a fault of its own, and the session with the coordinator goes on', () => {
  for (const [cause, node] of ofNodes) {
    if (!(cause instanceof NodeUnanswered)) {
      // Other servers say so of themselves.
      assert.equal(lostNodeOf(cause), undefined);
      assert.equal(markLostNode(cause), cause);
    }
    const seen = mapWriteError(cause);
    for (const one of [cause, seen, new StatementFailed(0, seen), new CommitUnknown(cause)]) {
      assert.equal(passingFaultOf(one), 'a node of the database cannot be reached', cause.message);
      assert.equal(lostNodeOf(one), node);
      assert.equal(isConnectionError(one), cause instanceof NodeUnanswered);
    }
    assert.ok(mayRetryRead(cause));
  }
  for (const other of [error('XX000', 'unexpected node'), fatal('08006'), new Error('Connection terminated')])
    assert.equal(lostNodeOf(markLostNode(other)), undefined);
  assert.equal(lostNodeOf(new NotSent(new NodeUnanswered('a:1'))), 'a:1');
  assert.equal(lostNodeOf(undefined), undefined);
});

test('an error of COPY to a node has its SQLSTATE again', () => {
  for (const [text, code] of [
    ['duplicate key value violates unique constraint "u~t_A_102580"', '23505'],
    ['null value in column "objectId" of relation "t_A_102591" violates not-null constraint', '23502'],
    ['index row size 2816 exceeds btree version 4 maximum 2704 for index "f~t_A_1"', '54000'],
    ['something else', 'XX000'],
  ] as const) {
    const cause = error('XX000', text, { routine: 'ReportCopyError' });
    restoreCode(cause);
    assert.equal((cause as { code?: string }).code, code);
    const other = error('XX000', text);
    restoreCode(other);
    assert.equal((other as { code?: string }).code, 'XX000');
  }
});

test('the end of its time is a timeout for a read alone', () => {
  const late = error('57014');
  assert.equal((mapReadError(late) as ServiceError).key, 'timeout');
  assert.equal((mapWriteError(late) as ServiceError).key, 'unavailable');
  assert.equal((mapReadError(mapWriteError(late)) as ServiceError).key, 'unavailable');
});

test('what says that a transaction may go through applies to unavailable too; a write in doubt is never tried again', () => {
  for (const code of ['40P01', '40001', '55P03']) {
    assert.ok(mayRetry(mapWriteError(error(code))), code);
    assert.ok(!mayRetry(new CommitUnknown(error(code))), code);
  }
  assert.equal(new CommitUnknown().key, 'outcomeUnknown');
  assert.ok(isConnectionError(new NotSent(new Error('any'))));
});
