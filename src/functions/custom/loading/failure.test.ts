import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceError } from '../../../errors/fail.ts';
import { failureOf, ServiceFault, truncate } from './failure.ts';
import { heardLog } from './testing/heard-log.ts';

const UNTOLD = 'The function failed.';

/** A proxy all of whose traps throw the proxy itself. */
function trap(target: object): object {
  const thrower: ProxyHandler<object> = new Proxy(
    {},
    {
      get: () => () => {
        throw proxy;
      },
    },
  );
  const proxy: object = new Proxy(target, thrower);
  return proxy;
}

const throwing = (name: string) =>
  Object.defineProperty(new Error('said'), name, {
    enumerable: true,
    get() {
      throw new Error('getter');
    },
  });

test('whatever was thrown is shown and logged in objects of the service’s own', () => {
  const { log, heard } = heardLog();
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const [thrown, shown] of [
    [trap({}), UNTOLD],
    [trap(new Error('hidden')), UNTOLD],
    [trap(() => {}), UNTOLD],
    [revoked, UNTOLD],
    [Object.freeze(new Error('frozen')), 'frozen'],
    [Object.freeze({ message: 'frozen' }), 'frozen'],
    [throwing('message'), UNTOLD],
    [throwing('stack'), 'said'],
    [throwing('name'), 'said'],
    [throwing('code'), 'said'],
    [throwing('cause'), 'said'],
    [throwing('anything'), 'said'],
    [Object.assign(new Error('said'), { cause: trap({}), stack: { toString: null } }), 'said'],
    [Object.create(null), UNTOLD],
    [null, UNTOLD],
    [undefined, UNTOLD],
    [Symbol('s'), UNTOLD],
    [{ message: 5 }, UNTOLD],
    [new ServiceFault(), UNTOLD],
    [serviceError('objectNotFound'), 'Object not found.'],
  ] as const) {
    const failure = failureOf(thrown);
    assert.deepEqual([failure.forCaller.key, failure.forCaller.message], ['functionFailed', shown]);
    assert.ok(!Object.is(failure.logged, thrown));
    log.warn({ err: failure.logged }, 'told');
    assert.equal(typeof heard('warn').at(-1)?.err?.message, 'string');
  }
});

test('the log has the name, the place, the code and the causes', () => {
  const thrown = Object.assign(new TypeError('outer', { cause: new RangeError('inner') }), { code: 'SOLD_OUT', secret: 1 });
  const { logged } = failureOf(thrown);
  assert.deepEqual([logged.name, logged.message, logged.stack], ['TypeError', 'outer', thrown.stack]);
  assert.equal((logged as { code?: unknown }).code, 'SOLD_OUT');
  assert.equal((logged.cause as Error).message, 'inner');
  assert.equal('secret' in logged, false);
  const round: Error = new Error('round');
  round.cause = round;
  let depth = 0;
  for (let at: unknown = failureOf(round).logged; at instanceof Error; at = at.cause) depth++;
  assert.equal(depth, 5);
});

test('answer and log are bounded', () => {
  const thrown = Object.assign(new Error(`${'x'.repeat(999)}${'😀'.repeat(100_000)}`), { code: 'c'.repeat(5_000) });
  const { forCaller, logged } = failureOf(thrown);
  assert.equal(forCaller.message, `${'x'.repeat(999)}…`);
  assert.ok(logged.message.isWellFormed() && logged.message.length <= 2_001);
  assert.match(logged.stack ?? '', /failure\.test\.ts/);
  assert.ok((logged.stack ?? '').length <= 8_001);
  assert.equal(failureOf('y'.repeat(5_000_000)).forCaller.message.length, 1_001);
  assert.ok(failureOf('y'.repeat(5_000_000)).logged.message.length <= 2_001);
  assert.equal(truncate('a\ud800', 5), 'a\ufffd');
});
