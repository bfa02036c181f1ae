/** Reference: tools.md#create-table, tools.md#add-fields, tools.md#set-field-labels, tools.md#set-table-timeline. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { creates } from '../../../automation/effects.ts';
import { type Json, pointer, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { makeRole } from '../../../support/users.ts';
import { byKey } from '../callers.ts';

for (const engine of sampledEngines())
  describe(`tools of tables on ${engine}`, () => {
    const store = useStore(engine);
    const { use, refused } = byKey(store);
    const schema = async (table: string): Promise<Json> =>
      (await store.call('GET', `/platform/schemas/${table}`, { query: { withDictionary: true } })).body;
    const dictionary = async (tblName: string): Promise<Json[]> =>
      (await store.call('GET', '/platform/classes/_Dictionary', { query: { where: { tblName }, limit: 1000 } })).body.results;

    test('a table is made with fields, labels, the default permissions and the timeline', async () => {
      const className = unique('T');
      const made = await use('Create-Table', {
        className,
        label: 'פרויקטים',
        timeline: true,
        fields: [
          { name: 'Name', type: 'String', label: 'שם' },
          { name: 'AccountId', type: 'Pointer', targetClass: 'Accounts', label: 'לקוח' },
          { name: 'Total', type: 'Number' },
        ],
      });
      assert.deepEqual([made.className, made.fields, made.timeline], [className, ['Name', 'AccountId', 'Total'], true]);
      assert.equal(made.warnings, undefined);
      const { fields, classLevelPermissions, timeline } = await schema(className);
      assert.deepEqual(fields.Name, { type: 'String', dictionary: 'שם' });
      assert.deepEqual(fields.AccountId, { type: 'Pointer', targetClass: 'Accounts', dictionary: 'לקוח' });
      assert.deepEqual(fields.Total, { type: 'Number' });
      assert.equal(fields.createdAt.dictionary, 'נוצר בתאריך');
      const { classLevelPermissions: shared } = await schema('Accounts');
      assert.deepEqual(classLevelPermissions, shared, 'as the shared business tables');
      assert.deepEqual(timeline, { displayFields: {}, index: {} });
      const rows = await dictionary(className);
      const [own] = rows.filter((row) => row.field === undefined);
      assert.equal(own.value, 'פרויקטים');
      assert.deepEqual(own.createdBy, pointer('_User', 'master'));
      const id = await store.create(className, { Name: 'A' });
      const lines = await store.call('GET', '/platform/classes/_Timeline', { query: { where: { objectIdValue: id } } });
      assert.equal(lines.body.results.length, 1, 'the timeline is on');
    });

    test('a table with nothing but a name; a target that does not exist yet is reported', async () => {
      const className = unique('T');
      await use('Create-Table', { className });
      assert.equal((await schema(className)).timeline, undefined);
      const other = unique('T');
      const made = await use('Create-Table', {
        className: other,
        fields: [{ name: 'To', type: 'Relation', targetClass: 'Nowhere' }],
      });
      assert.match(made.warnings[0], /To points at Nowhere/);
    });

    test('a role that the system lacks is in no permissions', async (t) => {
      const { results } = (await store.call('GET', '/platform/roles', { query: { where: { name: 'Finance' } } })).body;
      const deleted = await store.call('DELETE', `/platform/roles/${results[0].objectId}`);
      assert.equal(deleted.status, 200, deleted.text);
      t.after(() => makeRole(store, 'Finance', []));
      const className = unique('T');
      await use('Create-Table', { className });
      const { classLevelPermissions } = await schema(className);
      assert.equal(classLevelPermissions.find['role:Finance'], undefined);
      assert.equal(classLevelPermissions.find['role:Sales'], true);
    });

    test('what no table can be is refused and leaves nothing', async () => {
      const className = unique('T');
      const fields = (...items: object[]) => ({ className, fields: items });
      const cases: [object, number, RegExp][] = [
        [{ className: 'Accounts' }, 103, /^Class Accounts already exists\. \(code 103\)\..*Next: Add-Fields\.$/],
        [{ className: '9T' }, 103, /^Invalid class name: 9T/],
        [{ className: '_Mine' }, 103, /^Invalid class name: _Mine/],
        [{ className: '_Terminology' }, 103, /Invalid class name/],
        [{ className: '_StoredFile' }, 103, /Invalid class name/],
        [{}, 107, /className is required/],
        [{ className, colour: 1 }, 107, /colour is unknown/],
        [{ className, label: 'x'.repeat(201) }, 107, /label/],
        [fields({ name: 'A' }), 107, /fields\[0\]\.type must be a text/],
        [fields({ type: 'String' }), 107, /fields\[0\]\.name must be a text/],
        [fields({ name: 'A', type: 'Text' }), 111, /^invalid field type: Text \(code 111\)\. A type is one of String, Number/],
        [fields({ name: 'A', type: 'ACL' }), 111, /invalid field type/],
        [fields({ name: 'A', type: 'Pointer' }), 135, /targetClass/],
        [fields({ name: 'A', type: 'String', unique: true }), 107, /fields\[0\] unique is unknown/],
        [fields({ name: 'A', type: 'String', required: 'yes' }), 107, /required of field A/],
        [fields({ name: 'A', type: 'Number', defaultValue: 'x' }), 111, /schema mismatch for .*\.A/],
        [fields({ name: 'A', type: 'String' }, { name: 'A', type: 'Number' }), 107, /A comes twice/],
        [fields({ name: 'A', type: 'String', label: 5 }), 107, /fields\[0\]\.label must be a text/],
        [fields({ name: 'A b', type: 'String' }), 105, /Invalid field name: A b/],
        [fields({ name: '__proto__', type: 'String' }), 105, /Invalid field name/],
        [fields({ name: 'objectId', type: 'String' }), 136, /field objectId cannot be added/],
        [fields(...Array.from({ length: 201 }, (_, n) => ({ name: `F${n}`, type: 'String' }))), 107, /at most 200/],
      ];
      for (const [args, code, text] of cases) await refused('Create-Table', args, code, text);
      assert.equal(await store.fields(className), undefined);
      assert.deepEqual(await dictionary(className), []);
    });

    test('fields are added with labels; those that are there are passed over', async () => {
      const table = await store.table({ Name: 'String' });
      const answer = await use('Add-Fields', {
        className: table,
        fields: [
          { name: 'Name', type: 'String', label: 'passed over' },
          { name: 'Due', type: 'Date', label: 'מועד' },
        ],
      });
      assert.deepEqual(answer, { className: table, added: ['Due'], passedOver: ['Name'] });
      const { fields } = await schema(table);
      assert.deepEqual([fields.Due, fields.Name], [{ type: 'Date', dictionary: 'מועד' }, { type: 'String' }]);
    });

    test('a field of another type is refused, and nothing of the call is written', async () => {
      const table = await store.table({ Name: 'String' });
      const fields = [
        { name: 'New', type: 'String', label: 'חדש' },
        { name: 'Name', type: 'Number' },
      ];
      await refused(
        'Add-Fields',
        { className: table, fields },
        255,
        /^Field Name exists, cannot update\..*type can never be changed/,
      );
      assert.deepEqual(Object.keys((await schema(table)).fields).includes('New'), false);
      assert.deepEqual(await dictionary(table), []);
      await refused('Add-Fields', { className: 'Nowhere', fields }, 103, /Class Nowhere does not exist/);
      await refused('Add-Fields', { className: '_OAuthItem', fields }, 103, /Class _OAuthItem does not exist/);
      await refused('Add-Fields', { className: table, fields: [] }, 107, /fields must not be empty/);
      await refused('Add-Fields', { className: table, fields: ['Name'] }, 107, /fields\[0\] must be an object/);
    });

    test('a field that comes again takes over the row of its label', async () => {
      const table = await store.table({});
      const add = (label: string) => use('Add-Fields', { className: table, fields: [{ name: 'A', type: 'String', label }] });
      await add('one');
      await store.call('PUT', `/platform/schemas/${table}`, { body: { fields: { A: { __op: 'Delete' } } } });
      await add('two');
      assert.equal((await schema(table)).fields.A.dictionary, 'two');
      assert.equal((await dictionary(table)).length, 1);
    });

    test('labels are merged, changed and taken away', async () => {
      const table = await store.table({ A: 'String', B: 'String', C: 'String' });
      const set = (labels: object) => use('Set-Field-Labels', { className: table, labels });
      assert.deepEqual(await set({ A: 'a', B: 'b' }), { className: table, labelled: ['A', 'B'], changed: 2 });
      assert.equal((await set({ A: 'a', C: 'c' })).changed, 1, 'what is so already is not written');
      await set({ B: '', createdAt: 'נוצר' });
      const { fields } = await schema(table);
      const shown = ['A', 'B', 'C', 'createdAt'].map((name) => fields[name].dictionary);
      assert.deepEqual(shown, ['a', undefined, 'c', 'נוצר']);
      await set({ B: 'again' });
      assert.equal((await schema(table)).fields.B.dictionary, 'again');
      assert.equal((await dictionary(table)).length, 4, 'one row for each field');
    });

    test('labels that cannot be are refused, all of them', async () => {
      const table = await store.table({ A: 'String' });
      const cases: [object, number, RegExp][] = [
        [{ className: table, labels: { A: 'a', Nothing: 'x' } }, 107, /has no field Nothing/],
        [{ className: table, labels: { A: 5 } }, 107, /labels\.A must be a text/],
        [{ className: table, labels: { A: null } }, 107, /labels\.A must be a text/],
        [{ className: table, labels: { A: 'x'.repeat(201) } }, 107, /at most 200/],
        [{ className: table, labels: {} }, 107, /must not be empty/],
        [{ className: table, labels: [] }, 107, /labels must be an object/],
        [{ className: 'Accounts', labels: { _phone_key: 'x' } }, 107, /has no field _phone_key/],
        [{ className: '_User', labels: { sessionToken: 'x' } }, 107, /has no field/],
        [{ className: 'Nowhere', labels: { A: 'a' } }, 103, /Class Nowhere does not exist/],
      ];
      for (const [args, code, text] of cases) await refused('Set-Field-Labels', args, code, text);
      assert.deepEqual(await dictionary(table), []);
    });

    test('writes of labels are writes of records: triggers see them', async () => {
      const table = await store.table({ A: 'String' });
      const seen = await store.table({ Label: 'String' });
      const actions = [creates(seen, { Label: '{{value}}' })];
      const trigger = { Name: unique('t'), table: '_Dictionary', events: ['create'], actions };
      const made = await store.call('POST', '/platform/classes/_Trigger', { body: trigger });
      if (made.status !== 201) return assert.fail(made.text);
      await use('Set-Field-Labels', { className: table, labels: { A: 'seen' } });
      await use('Add-Fields', { className: table, fields: [{ name: 'B', type: 'String', label: 'too' }] });
      const end = Date.now() + 5000;
      while ((await store.all(seen)).length < 2 && Date.now() < end) await new Promise((go) => setTimeout(go, 50));
      assert.deepEqual((await store.all(seen)).map((row) => row.Label).sort(), ['seen', 'too']);
      await store.remove('_Trigger', made.body.objectId);
    });

    test('the timeline is turned on, changed and turned off', async () => {
      const table = await store.table({ A: 'String', B: 'String' });
      const set = (args: object) => use('Set-Table-Timeline', { className: table, ...args });
      const timeline = async () => (await schema(table)).timeline;
      await set({ enabled: true, displayFields: { A: true } });
      assert.deepEqual(await timeline(), { displayFields: { A: true }, index: {} });
      await set({ enabled: true, index: { AccountId: true } });
      assert.deepEqual(await timeline(), { displayFields: { A: true }, index: { AccountId: true } }, 'what is not sent stays');
      await set({ enabled: false });
      assert.equal(await timeline(), undefined);
      await refused('Set-Table-Timeline', { className: table, displayFields: { Nothing: true } }, 107, /has no field Nothing/);
      await refused('Set-Table-Timeline', { className: table, enabled: false, index: {} }, 107, /enabled: true/);
      await refused('Set-Table-Timeline', { className: '_Timeline' }, 107, /is a log/);
      await refused('Set-Table-Timeline', { className: table, enabled: 'yes' }, 107, /enabled must be/);
      await refused('Set-Table-Timeline', { className: 'Nowhere', enabled: true }, 103, /does not exist/);
      assert.equal(await timeline(), undefined);
    });
  });
