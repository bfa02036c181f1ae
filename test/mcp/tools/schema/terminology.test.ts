/** Reference: tools.md#get-terminology-dictionary, tools.md#set-terminology-dictionary. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey } from '../callers.ts';
import { useRestored } from '../restored.ts';

for (const engine of sampledEngines())
  describe(`terminology on ${engine}`, () => {
    const store = useStore(engine);
    const { use, refused } = byKey(store);
    useRestored(store, '_Dictionary');
    const set = (terms: object) => use('Set-Terminology-Dictionary', { terms });
    const terms = async () => (await use('Get-Terminology-Dictionary')).terms;
    const rows = async (): Promise<Json[]> =>
      (await store.call('GET', '/platform/classes/_Dictionary', { query: { where: { tblName: '_Terminology' }, limit: 5000 } }))
        .body.results;

    test('the whole dictionary is replaced; a term that is not sent stands for itself again', async () => {
      assert.deepEqual(await terms(), {});
      assert.deepEqual(await set({ Sales: 'פרויקטים', Accounts: 'לקוחות' }), { terms: 2, changed: 2 });
      assert.deepEqual(await terms(), { Sales: 'פרויקטים', Accounts: 'לקוחות' });
      await set({ Sales: 'עסקאות' });
      assert.deepEqual(await terms(), { Sales: 'עסקאות' });
      const accounts = (await rows()).filter((row) => row.field === 'Accounts');
      assert.deepEqual(
        accounts.map((row) => row.value),
        ['Accounts'],
        'no record is deleted',
      );
      await set({ Sales: 'עסקאות', Tasks: 'משימות' });
      assert.equal((await rows()).length, 2, 'its row serves the next term');
      assert.deepEqual(await terms(), { Sales: 'עסקאות', Tasks: 'משימות' });
      await set({});
      assert.deepEqual(await terms(), {});
    });

    test('the same again writes nothing', async () => {
      await set({ A: 'a', B: 'b' });
      const before = await rows();
      assert.deepEqual(await set({ B: 'b', A: 'a' }), { terms: 2, changed: 0 });
      assert.deepEqual(await rows(), before);
    });

    test('a term that is sent as itself, or empty, stands for itself', async () => {
      assert.equal((await set({ Cases: 'Cases', Notes: '', Emails: '  ', SMS: 'הודעות' })).terms, 1);
      assert.deepEqual(await terms(), { SMS: 'הודעות' });
    });

    test('parallel replacements leave the one or the other whole', async () => {
      const one = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`One${n}`, `1-${n}`]));
      const two = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`Two${n}`, `2-${n}`]));
      await Promise.all([set(one), set(two), set(one), set(two)]);
      const left = await terms();
      assert.ok([one, two].some((sent) => JSON.stringify(sent) === JSON.stringify(left)) || Object.keys(left).length === 20);
      assert.equal(new Set(Object.keys(left).map((term) => term.slice(0, 3))).size, 1);
    });

    test('many terms, and names that objects have anyway', async () => {
      const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`Term${n}`, `t${n}`]));
      assert.equal((await set(many)).changed, 2000);
      assert.equal(Object.keys(await terms()).length, 2000);
      await set({ constructor: 'c', toString: 't' });
      assert.deepEqual(await terms(), { constructor: 'c', toString: 't' });
    });

    test('rows that others wrote: the first counts, and those that go back do so in all rows', async () => {
      await set({});
      for (const value of ['first', 'second'])
        await store.create('_Dictionary', { tblName: '_Terminology', field: 'Twice', value });
      await store.create('_Dictionary', { tblName: '_Terminology' });
      assert.deepEqual(await terms(), { Twice: 'first' });
      await set({ Twice: 'third' });
      assert.deepEqual(await terms(), { Twice: 'third' });
      await set({});
      assert.deepEqual(await terms(), {});
    });

    test('what cannot be is refused and changes nothing', async () => {
      await set({ Kept: 'kept' });
      const cases: [object, RegExp][] = [
        [{}, /terms must be an object/],
        [{ terms: [] }, /terms must be an object/],
        [{ terms: { A: 1 } }, /terms\.A must be a text/],
        [{ terms: { A: 'x'.repeat(201) } }, /at most 200/],
        [{ terms: { ['x'.repeat(201)]: 'a' } }, /1 to 200/],
        [{ terms: { '': 'a' } }, /1 to 200/],
        [{ terms: Object.fromEntries(Array.from({ length: 2001 }, (_, n) => [`T${n}`, 'x'])) }, /at most 2000/],
      ];
      for (const [args, text] of cases) await refused('Set-Terminology-Dictionary', args, 107, text);
      assert.deepEqual(await terms(), { Kept: 'kept' });
    });

    test('labels of tables, and of the fields of those that are named', async () => {
      const className = unique('T');
      const fields = [{ name: 'Name', type: 'String', label: 'שם' }];
      await use('Create-Table', { className, label: 'תווית', fields });
      await set({ Sales: 'פרויקטים' });
      const reported = await use('Get-Terminology-Dictionary', { tables: [className, 'Accounts', '_Role'] });
      assert.equal(reported.tables[className], 'תווית');
      assert.equal(reported.fields[className].Name, 'שם');
      assert.equal(reported.fields.Accounts.PhoneNumber, 'טלפון');
      assert.equal(reported.fields.Accounts._phone_key, undefined);
      assert.deepEqual(reported.fields._Role, {});
      assert.deepEqual(reported.terms, { Sales: 'פרויקטים' });
      const schema = await store.call('GET', `/platform/schemas/${className}`, { query: { withDictionary: true } });
      assert.equal(schema.body.fields.Name.dictionary, 'שם', 'terms are no labels');
      await refused('Get-Terminology-Dictionary', { tables: ['Nowhere'] }, 103, /^Class Nowhere does not exist\./);
    });
  });
