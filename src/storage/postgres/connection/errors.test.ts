import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import {
  CommitUnknown,
  isConnectionError,
  isForgotten,
  isOutOfRange,
  isStale,
  isTimeout,
  isTooLarge,
  mayRetry,
  StatementFailed,
  translated,
  violatedConstraint,
} from './errors.ts';

const kinds = {
  lost: isConnectionError,
  timeout: isTimeout,
  forgotten: isForgotten,
  stale: isStale,
  retry: mayRetry,
  range: isOutOfRange,
  large: isTooLarge,
};

function error(code: string, message = 'text', more: object = {}): Error {
  return Object.assign(new Error(message), { code, severity: 'ERROR' }, more);
}

const table: readonly (readonly [Error, ...(keyof typeof kinds)[]])[] = [
  [error('08006'), 'lost'],
  [error('08P01', 'bind message supplies 1 parameters')],
  [error('08P01', 'invalid frontend message', { severity: 'FATAL' }), 'lost'],
  [error('57P01', 'terminating connection', { severity: 'FATAL' }), 'lost'],
  [error('57P02'), 'lost'],
  [error('57P03'), 'lost'],
  [error('53300'), 'lost'],
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
});

test('a lost connection and the end of the time limit become errors of the catalogue', () => {
  const gone = error('ECONNRESET');
  const lost = translated(gone);
  assert.ok(lost instanceof ServiceError && lost.key === 'unavailable' && lost.status === 503 && lost.cause === gone);
  const late = translated(error('57014'));
  assert.ok(late instanceof ServiceError && late.key === 'timeout');
  const other = error('42601');
  assert.equal(translated(other), other);
  assert.equal(new CommitUnknown().key, 'unavailable');
});
