/** Property: both engines give the same answer to every request, byte for byte (adr/0002). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../support/oracle.ts';
import { engines } from '../support/service.ts';
import { type Pair, startPair } from './engines/pair.ts';
import { everything, read } from './engines/reads.ts';
import { jsonText, type Request } from './engines/request.ts';
import { rows, seeding, targets, write } from './engines/writes.ts';
import { settings } from './settings.ts';

const requestsPerTable = 40;
const parameters = settings<[Json[], Json[], Request[]]>(15);

// TEST_ENGINES may leave out one of the two that are compared.
describe('engines property', { skip: engines.length < 2 }, () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.stop());

  const request = fc.oneof({ weight: 3, arbitrary: read }, { weight: 2, arbitrary: write });
  const requests = fc.array(request, { minLength: 1, maxLength: requestsPerTable, size: 'max' });

  test('Records: SQLite and PostgreSQL answer alike', { timeout: 2 * (parameters.interruptAfterTimeLimit ?? 0) }, async () => {
    let run = 0;
    const property = fc.asyncProperty(rows, targets, requests, async (all, others, sent) => {
      run++;
      const compare = async (one: Request) => {
        const [sqlite, postgres] = await pair.ask(one, run);
        const { method, path, byUser = false, body = null } = one;
        assert.equal(postgres, sqlite, `${method} ${path}${byUser ? ' by a user' : ''} ${jsonText(body)}`);
      };
      for (const one of seeding(all, others)) await compare(one);
      for (const one of sent) await compare(one);
      for (const one of everything) await compare(one);
      pair.alive();
    });
    await fc.assert(property, parameters);
  });
});
