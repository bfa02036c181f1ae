import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { ServiceError } from '../../errors/fail.ts';
import { escapeHtml } from '../../kernel/html.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import type { Template } from '../model/model.ts';
import { makeWorld, type World } from '../testing/world.ts';
import { fillerFor } from './template.ts';

const SECRET = 'secret-secret';
const DATA = 'client’s <data>';

let world: World;
let userId: string;
before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
  userId = await world.create('_User', { username: SECRET.slice(0, 3), password: 'Right1Pass', name: 'Dana' });
  await world.create('Probes', {
    User: { __type: 'Pointer', className: '_User', objectId: userId },
    Data: {},
    Tags: [],
    Text: '',
  });
});
after(() => world.close());

const names = [
  'User',
  'Data',
  'Tags',
  'Text',
  'password',
  'sessionToken',
  '_username_key',
  'name',
  'objectId',
  '__op',
  '__type',
  '0',
  'constructor',
];
const name = fc.constantFrom(...names, '__proto__', 'toString', 'length', ' a b ', '');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
const brace = fc.constantFrom('{', '}', '{{', '}}', '{{{', '}}}', ' ', '<b>', 'x');
const piece = fc.oneof(
  brace,
  path,
  path.map((at) => `{{${at}}}`),
  path.map((at) => `{{ ${at} }}`),
  path.map((at) => `{{{${at}}}}`),
);
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
const keyed = (value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
  fc.array(fc.tuple(name, value), { maxLength: 3 }).map((members) => Object.fromEntries(members));
const { template } = fc.letrec<{ template: JsonValue }>((tie) => ({
  template: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.constantFrom<JsonValue>(null, 1, true, { __op: 'Delete' }),
    fc.array(tie('template'), { maxLength: 3 }),
    keyed(tie('template')),
  ),
}));
/** Data as clients may write it: templates as text, operators and files as data, Pointers anywhere. */
const { data } = fc.letrec<{ data: JsonValue }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(DATA, '{{Text}}', '{{{Text}}}', 5, false, { __op: 'Delete' }, { __op: 'Increment', amount: 1 }),
    fc.constantFrom<JsonValue>({ __type: 'File', name: 'x' }, { __type: 'Pointer', className: '_User', objectId: 'x' }),
    fc.array(tie('data'), { maxLength: 3 }),
    keyed(tie('data')),
  ),
}));
const record = fc.record({
  Data: data,
  Tags: fc.array(data),
  Text: fc.constantFrom('{{Data}}', '{{{Tags}}}', DATA),
  password: fc.constant(SECRET),
});

test('random templates of random records: nothing is thrown but refusals, no secret, no operator, no template of the data’s', async () => {
  await fc.assert(
    fc.asyncProperty(template, record, fc.boolean(), async (asked: Template, fields, isUser) => {
      const User = { __type: 'Pointer', className: '_User', objectId: userId };
      const className = isUser ? '_User' : 'Probes';
      const triggering = {
        className,
        objectId: 'a',
        fields: { ...fields, ...(isUser ? {} : { password: 'shown' }), User, objectId: 'a' },
      };
      const filler = fillerFor({ record: triggering, reading: world.master });
      const before = JSON.stringify([asked, triggering]);
      const value = await filler.value(asked).catch((error) => {
        assert.ok(error instanceof ServiceError && ['badOperator', 'notAType'].includes(error.key), error);
        return null;
      });
      assert.ok(!JSON.stringify(value ?? null).includes(SECRET));
      if (typeof asked === 'string' && value !== null && value !== undefined) {
        const list = Array.isArray(value) ? value : [value];
        for (const one of list) assert.ok(typeof one !== 'object' || one === null || !Object.hasOwn(one, '__op'));
      }
      if (typeof asked === 'string') {
        const shown = await filler.html(asked);
        assert.ok(!shown.includes(SECRET) && !(await filler.text(asked)).includes(SECRET));
        if (!asked.includes('{{{'))
          assert.ok(!shown.includes(DATA) && (!(await filler.text(asked)).includes(DATA) || shown.includes(escapeHtml(DATA))));
      }
      assert.equal(JSON.stringify([asked, triggering]), before);
    }),
    { numRuns: 3_000 },
  );
});
