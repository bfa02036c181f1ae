import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { date, type FieldType, pointer, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const target: FieldType = { type: 'Pointer', targetClass: 'Targets' };
const link = pointer('Targets', 'abcdefghij');
const moment = date('2024-02-29T23:59:59.999Z');

/** Field, value, and the value read back if it differs. */
const kept: [FieldType | string, unknown][] = [
  ['String', 'a'],
  ['String', ''],
  ['String', ' padded '],
  ['String', 'line\nbreak\ttab\r\n'],
  ['Number', 5],
  ['Number', 0],
  ['Number', -1.5],
  ['Boolean', true],
  ['Boolean', false],
  ['Date', moment],
  [target, link],
  ['Array', []],
  ['Array', [1, 'a', true, null, { a: 1 }, [2, [3]]]],
  ['Array', [link, pointer('Others', 'klmnopqrst')]],
  ['Array', [moment]],
  ['Array', [0, false, '']],
  ['Object', {}],
  ['Object', { a: 1, b: 'x', c: true, d: null, e: [1, { f: 2 }], g: {} }],
  ['Object', { when: moment, who: link, list: [link] }],
  ['Object', { 'key with space': 1, שם: 2, '🙂': 3, 'a-b': 4, '': 5 }],
  ['Object', { id: 'x', objectId: 'y', className: 'z', length: 3, createdAt: 'w' }],
  ['HTML/XML', '<p dir="rtl">שלום &amp; <b>bold</b></p>'],
  ['HTML/XML', ''],
];

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    for (const [field, value] of kept) {
      const type = typeof field === 'string' ? field : field.type;
      test(`Wire types/${type}: ${JSON.stringify(value)} comes back as it was sent`, async () => {
        const table = await store.table({ F: field });
        const created = await store.create(table, { F: value });
        assert.deepEqual((await store.read(table, created)).F, value);
        const updated = await store.create(table, {});
        await store.update(table, updated, { F: value });
        assert.deepEqual((await store.read(table, updated)).F, value);
        for (const listed of await store.all(table)) assert.deepEqual(listed.F, value);
      });
    }

    for (const text of [
      '007',
      '1e5',
      ' 5',
      '0x10',
      '1.0',
      '+1',
      'true',
      'null',
      'NaN',
      'Infinity',
      '9007199254740993',
      '2024-01-01',
    ])
      test(`Wire types/String: ${JSON.stringify(text)} stays text, however much it looks like another type`, async () => {
        const table = await store.table({ S: 'String', H: 'HTML/XML', A: 'Array', O: 'Object' });
        const { S, H, A, O } = await store.read(
          table,
          await store.create(table, { S: text, H: text, A: [text], O: { k: text } }),
        );
        assert.deepEqual([S, H, A, O], [text, text, [text], { k: text }]);
      });

    test('Wire types/Boolean: a boolean is no number and a number no boolean, inside values too', async () => {
      const table = await store.table({ B: 'Boolean', N: 'Number', A: 'Array', O: 'Object' });
      const sent = { B: true, N: 1, A: [true, 1, false, 0], O: { yes: true, one: 1, no: false, zero: 0 } };
      const { B, N, A, O } = await store.read(table, await store.create(table, sent));
      assert.deepEqual({ B, N, A, O }, sent);
    });

    test('Wire types/Pointer: further keys of the object are not kept', async () => {
      const table = await store.table({ P: target });
      const id = await store.create(table, { P: { ...link, Name: 'x' } });
      assert.deepEqual((await store.read(table, id)).P, link);
    });

    test('Wire types/Pointer: an unknown but well-formed objectId is stored as a dangling Pointer', async () => {
      const targets = await store.table();
      const table = await store.table({ P: { type: 'Pointer', targetClass: targets } });
      const id = await store.create(table, { P: pointer(targets, 'missing123') });
      assert.deepEqual((await store.read(table, id)).P, pointer(targets, 'missing123'));
    });

    test('Wire types/Pointer: objectIds of any length and script point at their record', async () => {
      const targets = await store.table();
      const table = await store.table({ P: { type: 'Pointer', targetClass: targets } });
      for (const objectId of ['שלום', 'a$b', "o'brien", 'x'.repeat(300)]) {
        await store.create(targets, { objectId });
        const id = await store.create(table, { P: pointer(targets, objectId) });
        assert.deepEqual((await store.read(table, id)).P, pointer(targets, objectId));
      }
    });

    test('Wire types/Relation: always there on a read, {__type: Relation, className}', async () => {
      const table = await store.table({ R: { type: 'Relation', targetClass: 'Targets' } });
      const relation = { __type: 'Relation', className: 'Targets' };
      const record = await store.read(table, await store.create(table, {}));
      assert.deepEqual(record.R, relation);
      assert.deepEqual((await store.all(table))[0].R, relation);
    });

    test('Wire types/Relation: the value that was read may be sent back and changes nothing', async () => {
      const targets = await store.table();
      const table = await store.table({ R: { type: 'Relation', targetClass: targets } });
      const member = await store.create(targets, {});
      const id = await store.create(table, { R: { __op: 'AddRelation', objects: [pointer(targets, member)] } });
      await store.update(table, id, { R: { __type: 'Relation', className: targets } });
      assert.deepEqual(await store.members(table, id, 'R', targets), [member]);
    });

    const acls = [
      {},
      { '*': { read: true } },
      { '*': { read: true, write: true }, 'role:Sales': { write: true } },
      { abcdefghij: { read: true, write: true } },
    ];
    for (const ACL of acls)
      test(`Wire types/ACL: map of user id or role to {read, write} booleans ${JSON.stringify(ACL)}; the keys pass`, async () => {
        const table = await store.table({ A: 'String' });
        const id = await store.create(table, { A: 'a', ACL });
        assert.deepEqual((await store.read(table, id)).ACL, ACL);
        await store.update(table, id, { A: 'b' });
        assert.deepEqual((await store.read(table, id)).ACL, ACL);
        assert.equal((await store.get(table, id, { as: 'apiKey' })).body.A, 'b');
        await store.update(table, id, { ACL: {} });
        assert.deepEqual((await store.read(table, id)).ACL, {});
      });

    test('Wire types/ACL: anything but a map is refused', async () => {
      const table = await store.table();
      for (const ACL of ['*', 5, true, ['*'], { '*': 'read' }, pointer('_User', 'abcdefghij')]) {
        const answer = await store.post(table, { ACL });
        assert.equal(answer.status, 400, JSON.stringify(ACL) + answer.text);
        assert.ok([107, 111, 123].includes(answer.body.code), answer.text);
      }
      assert.deepEqual(await store.all(table), []);
    });
  });
