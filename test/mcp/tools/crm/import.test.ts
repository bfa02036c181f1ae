/** Reference: tools.md#import-records. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer, unique } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { lookupId, permit } from '../tables.ts';

onEachEngine('import', (tools) => {
  const { use, refused, create, read, all, table, call } = tools;
  let target = '';
  let lookup = '';
  const ids: Record<string, string> = {};

  before(async () => {
    lookup = await table({ Name: 'String' });
    for (const Name of ['Red', 'Green', 'Twice', 'Twice']) ids[Name] = await create(lookup, { Name });
    target = await table({
      Name: 'String',
      Size: 'Number',
      Ready: 'Boolean',
      When: 'Date',
      ColourId: { type: 'Pointer', targetClass: lookup },
      [`array_colours_Pointer_${lookup}`]: 'Array',
      Words: 'Array',
      More: 'Object',
      PhoneNumber: 'String',
      Email: 'String',
      City: 'String',
      Links: { type: 'Relation', targetClass: lookup },
    });
  });

  /** Imports one value into a field; returns what was stored, or the error. */
  async function stored(field: string, value: unknown): Promise<Json> {
    const { results } = await use('Import-Records', { table: target, rows: [{ Name: 'x', [field]: value }] });
    const [{ success, error }] = results;
    return error ?? (await read(target, success.objectId))[field];
  }

  const good: [field: string, value: unknown, expected: unknown][] = [
    ['Name', '  Dana ', 'Dana'],
    ['Name', 5, '5'],
    ['Size', '1,234.50', 1234.5],
    ['Size', '₪ 12', 12],
    ['Size', '12%', 12],
    ['Size', '(1,000)', -1000],
    ['Size', '-3', -3],
    ['Size', 0, 0],
    ['Size', ' ', undefined],
    ['Ready', 'כן', true],
    ['Ready', 'No', false],
    ['Ready', 1, true],
    ['Ready', false, false],
    ['When', '2026-02-01', date('2026-02-01T00:00:00.000Z')],
    ['When', '13/02/2026', date('2026-02-13T00:00:00.000Z')],
    ['When', '3.3.2026', date('2026-03-03T00:00:00.000Z')],
    ['When', '2026-02-01T10:00:00+02:00', date('2026-02-01T08:00:00.000Z')],
    ['When', '2026-02-01 10:00', date('2026-02-01T10:00:00.000Z')],
    ['When', '31/01/2026 9:05', date('2026-01-31T09:05:00.000Z')],
    ['When', date('2026-02-01T10:00:00.000Z'), date('2026-02-01T10:00:00.000Z')],
    ['Words', 'a; b;;c ', ['a', 'b', 'c']],
    ['Words', [1, 'x'], [1, 'x']],
    ['More', '{"a":1}', { a: 1 }],
  ];

  const bad: [field: string, value: unknown, words: RegExp][] = [
    ['Name', { a: 1 }, /is not a text/],
    ['Size', 'abc', /Size: "abc" is not a number/],
    ['Size', '1.234,50', /is not a number/],
    ['Size', '12,34', /is not a number/],
    ['Ready', 'perhaps', /yes or no/],
    ['Ready', 2, /yes or no/],
    ['When', '03/04/2026', /day and month could be each other's. Send 2026-04-03 or 2026-03-04/],
    ['When', '02/13/2026', /YYYY-MM-DD, or DD\/MM\/YYYY/],
    ['When', '30/02/2026', /is not a date/],
    ['When', '13/02/26', /is not a date/],
    ['When', 45_000, /is not a date/],
    ['When', date('soon'), /is not a date/],
    ['When', '31/01/2026 25:00', /is not a date/],
    ['ColourId', 'Blue', /has no "Blue"/],
    ['ColourId', 'Twice', /has several "Twice"/],
    ['ColourId', pointer('Accounts', 'a000000000'), /is not a name, an objectId or a Pointer/],
    ['ColourId', 'zzzzzzzzzz', /has no "zzzzzzzzzz"/],
    ['More', '[1]', /is not a JSON object/],
  ];

  test('values are converted to what the field takes', async () => {
    for (const [field, value, expected] of good) assert.deepEqual(await stored(field, value), expected, JSON.stringify(value));
    for (const value of ['Red', ' red ', ids.Red, pointer(lookup, ids.Red ?? '')])
      assert.deepEqual(await stored('ColourId', value), pointer(lookup, ids.Red ?? ''));
    const list = [pointer(lookup, ids.Red ?? ''), pointer(lookup, ids.Green ?? '')];
    for (const value of ['Red; green', ['Red', ids.Green, 'RED']])
      assert.deepEqual(await stored(`array_colours_Pointer_${lookup}`, value), list);
  });

  test('values that cannot be read are refused, never guessed, and the row is not written', async () => {
    const before = (await all(target)).length;
    for (const [field, value, words] of bad) {
      const error = await stored(field, value);
      assert.equal(error?.code, 107, `${field} ${JSON.stringify(value)}: ${JSON.stringify(error)}`);
      assert.match(error.error, words);
    }
    assert.equal((await all(target)).length, before);
  });

  test('a date that shows the form of its column makes the others clear', async () => {
    const rows = [{ When: '03/04/2026' }, { When: '25/04/2026' }];
    const { results } = await use('Import-Records', { table: target, rows });
    assert.deepEqual((await read(target, results[0].success.objectId)).When, date('2026-04-03T00:00:00.000Z'));
  });

  test('columns: labels, names in any case, fieldMap', async () => {
    const rows = [{ שם: 'Avi', phonenumber: '0501112222', 'דוא״ל': 'a@b.test', Town: 'Haifa', Rest: 'x' }];
    const answer = await use('Import-Records', { table: 'Accounts', rows, fieldMap: { Town: 'עיר', Rest: null } });
    assert.deepEqual(answer.columns, { שם: 'Name', phonenumber: 'PhoneNumber', 'דוא״ל': 'Email', Town: 'City' });
    const made = await read('Accounts', answer.results[0].success.objectId);
    assert.deepEqual([made.Name, made.PhoneNumber, made.Email, made.City], ['Avi', '0501112222', 'a@b.test', 'Haifa']);
  });

  test('unknown columns are refused as a whole before anything is written', async () => {
    const before = (await all(target)).length;
    const rows = [{ Name: 'good' }, { Name: 'x', Colour: 'Red', Wrong: 1 }];
    const error = await refused('Import-Records', { table: target, rows }, 107, /"Colour" is no field; "Wrong" is no field/);
    assert.match(error.expected, /Fields: .*Name, Size/);
    const wrong: [object, RegExp][] = [
      [{ rows: [{ Name: 1, name: 2 }] }, /"Name" and "name" are both the field Name/],
      [{ rows: [{ createdAt: 'x' }] }, /createdAt cannot be imported/],
      [{ rows: [{ Links: 'Red' }] }, /Links cannot be imported/],
      [{ rows: [{ __proto__x: 1 }] }, /is no field/],
      [{ rows: [{ Name: 'x' }], matchOn: ['Size'] }, /no column is the field Size/],
      [{ rows: [{ Name: 'x' }], matchOn: ['Nothing'] }, /"Nothing" is no field/],
      [{ rows: [{ Words: 'x' }], matchOn: ['Words'] }, /is not compared/],
      [{ rows: [{ Name: 'x' }], fieldMap: { Name: 5 } }, /must be a text/],
      [{ rows: [] }, /must not be empty/],
      [{ rows: Array.from({ length: 1_001 }, () => ({ Name: 'x' })) }, /at most 1000/],
      [{ rows: [{ Name: 'x' }], onDuplicate: 'delete' }, /skip, create, update/],
    ];
    for (const [args, words] of wrong) await refused('Import-Records', { table: target, ...args }, 107, words);
    await refused('Import-Records', { table: 'Nothing', rows: [{ a: 1 }] }, 103, /Nothing/);
    await refused('Import-Records', { table: 'Accounts', rows: [{ _phone_key: '1' }] }, 107, /is no field/);
    assert.equal((await all(target)).length, before);
  });

  const actions = ({ results }: Json): string[] => results.map(({ success, error }: Json) => success?.action ?? error.code);

  for (const [field, storedAs, sentAs] of [
    ['PhoneNumber', '+972-50-765-', '050765'],
    ['PhoneNumber', '0097250764', '050764'],
    ['PhoneNumber', '50763', '+972-50-763-'],
    ['Email', 'dana', 'Dana'],
    ['Email', 'Dana.Levi', 'dana.LEVI'],
    ['Name', 'Dana ', 'Dana '],
  ] as const)
    for (const whose of ['Accounts', 'own'] as const)
      test(`matchOn ${field} ${storedAs} of ${whose}: skip, update, create`, async () => {
        const className = whose === 'own' ? target : 'Accounts';
        const digits = String(Math.floor(Math.random() * 9_000) + 1_000);
        const end = field === 'Email' ? `${digits}@mail.test` : digits;
        const id = await create(className, { [field]: storedAs + end, City: 'before' });
        const rows = [{ [field]: sentAs + end, City: 'after' }];
        const run = (onDuplicate: string) => use('Import-Records', { table: className, rows, matchOn: [field], onDuplicate });
        const skipped = await run('skip');
        assert.deepEqual(skipped.results, [{ success: { action: 'skipped', objectId: id } }]);
        assert.equal((await read(className, id)).City, 'before');
        assert.deepEqual((await run('update')).results, [{ success: { action: 'updated', objectId: id } }]);
        assert.equal((await read(className, id)).City, 'after');
        assert.deepEqual(actions(await run('create')), ['created']);
        const several = await run('update');
        assert.match(several.results[0].error.error, /2 records match/);
        assert.deepEqual(actions(await run('skip')), ['skipped']);
      });

  test('a refusal names no field that is hidden, by its label neither; without mcp:view nothing is revealed of what is there', async () => {
    const everybody = { '*': true };
    const name = unique('Wages');
    const fields = [
      { name: 'Name', type: 'String' },
      { name: 'Hidden', type: 'Number', label: 'Wage of all' },
    ];
    await use('Create-Table', { className: name, label: name, fields });
    const rights = { find: everybody, get: everybody, create: everybody, update: everybody };
    await permit(tools, name, { ...rights, protectedFields: { '*': ['Hidden'] } });
    const id = await create(name, { Name: 'Boss', Hidden: 5 });
    const sales = await byUser(tools, ['Sales']);
    for (const column of ['Nmae', 'Wage of all']) {
      const { text } = await sales.call('Import-Records', { table: name, rows: [{ [column]: 'x' }] });
      assert.match(text, /is no field.*Fields: objectId, Name/s);
      assert.doesNotMatch(text, /Hidden/);
    }
    const blind = await byUser(tools, ['Sales'], ['mcp:create', 'mcp:update']);
    const order = { table: name, rows: [{ Name: 'Boss' }], matchOn: ['Name'] };
    await blind.refused('Import-Records', { ...order, dryRun: true }, 107, /takes the permission mcp:view/);
    assert.deepEqual((await blind.use('Import-Records', order)).results, [{ success: { action: 'skipped' } }]);
    assert.deepEqual((await sales.use('Import-Records', order)).results, [{ success: { action: 'skipped', objectId: id } }]);
    assert.deepEqual(actions(await blind.use('Import-Records', { ...order, matchOn: [], dryRun: true })), ['created']);
  });

  test('duplicates inside the rows: the first is the record of the others', async () => {
    const Name = unique('n');
    const rows = [{ Name, Size: 1 }, { Name, Size: 2 }, { Name: `${Name}x` }, { Name, Size: 3 }, { Size: 4 }, { Size: 5 }];
    const skipped = await use('Import-Records', { table: target, rows, matchOn: ['Name'] });
    assert.deepEqual(actions(skipped), ['created', 'skipped', 'created', 'skipped', 'created', 'created']);
    const [{ success: first }, second] = skipped.results;
    assert.deepEqual(second, { success: { action: 'skipped', objectId: first.objectId, sameAsRow: 0 } });
    assert.deepEqual([skipped.created, skipped.skipped, skipped.failed], [4, 2, 0]);
    const other = unique('n');
    const twice = [
      { Name: other, Size: 'bad' },
      { Name: other, Size: 7 },
      { Name: other, Size: 8 },
    ];
    const updated = await use('Import-Records', { table: target, rows: twice, matchOn: ['Name'], onDuplicate: 'update' });
    assert.deepEqual(actions(updated), [107, 'created', 'updated']);
    assert.equal((await read(target, updated.results[1].success.objectId)).Size, 8);
  });

  test('objectId names the record', async () => {
    const id = await create(target, { Name: 'a' });
    const rows = [
      { objectId: id, Name: 'b' },
      { objectId: 'zzzzzzzzzz', Name: 'c' },
    ];
    const updated = await use('Import-Records', { table: target, rows, onDuplicate: 'update' });
    assert.deepEqual(actions(updated), ['updated', 107]);
    assert.equal((await read(target, id)).Name, 'b');
    assert.deepEqual(actions(await use('Import-Records', { table: target, rows })), ['skipped', 107]);
  });

  test('dryRun says what would happen, and writes nothing', async () => {
    const Name = unique('n');
    const id = await create(target, { Name });
    const before = await all(target);
    const rows = [{ Name, Size: '5' }, { Name: `${Name}x`, ColourId: 'Red' }, { Name: `${Name}x` }, { Size: 'x' }];
    const args = { table: target, rows, matchOn: ['Name'], onDuplicate: 'update', dryRun: true };
    const reported = await use('Import-Records', args);
    assert.equal(reported.dryRun, true);
    assert.deepEqual(actions(reported), ['updated', 'created', 'updated', 107]);
    assert.deepEqual(reported.results[0].success, { action: 'updated', objectId: id, data: { Name, Size: 5 } });
    assert.deepEqual(reported.results[1].success.data.ColourId, pointer(lookup, ids.Red ?? ''));
    assert.equal(reported.results[2].success.sameAsRow, 1);
    assert.deepEqual(await all(target), before);
    const { results } = await use('Import-Records', { ...args, dryRun: false });
    assert.deepEqual(actions({ results }), actions(reported));
  });

  test('a thousand rows, some of them wrong, in the size of an answer', async () => {
    const start = unique('m');
    const rows = Array.from({ length: 1_000 }, (_, n) => ({ Name: `${start}-${n}`, Size: n % 2 ? n : 'none' }));
    const answer = await use('Import-Records', { table: target, rows });
    assert.deepEqual([answer.created, answer.failed, answer.results.length], [500, 500, 1_000]);
    assert.ok(bytesOf(answer) <= MAX_BYTES, String(bytesOf(answer)));
    const again = rows.map((row) => ({ ...row, Size: 1 }));
    const dry = await use('Import-Records', {
      table: target,
      rows: again,
      matchOn: ['Name'],
      onDuplicate: 'update',
      dryRun: true,
    });
    assert.deepEqual([dry.created, dry.updated], [500, 500]);
    assert.ok(bytesOf(dry) <= MAX_BYTES, String(bytesOf(dry)));
  });

  test('triggers and the timeline hear of it, as of any write', async () => {
    const { results } = await use('Import-Records', { table: 'Tasks', rows: [{ Name: 'imported' }] });
    const where = { objectIdValue: results[0].success.objectId };
    const { body } = await call('GET', '/platform/classes/_Timeline', { query: { where } });
    assert.deepEqual(
      body.results.map((row: Json) => row.event),
      ['create'],
    );
  });

  test('a user imports what the roles allow, as that user', async () => {
    const seller = await byUser(tools, ['Sales']);
    const status = await lookupId(tools, 'TaskStatuses', {});
    const { Name } = await read('TaskStatuses', status);
    const rows = [{ Name: 'mine', StatusId: Name, OwnerId: 'Noa' }];
    const { results } = await seller.use('Import-Records', { table: 'Tasks', rows: [{ ...rows[0], OwnerId: seller.id }] });
    const made = await read('Tasks', results[0].success.objectId);
    assert.deepEqual([made.createdBy, made.StatusId], [pointer('_User', seller.id), pointer('TaskStatuses', status)]);
    const reader = await byUser(tools, ['ReadOnly']);
    for (const dryRun of [true, false])
      await reader.refused('Import-Records', { table: 'Tasks', rows, dryRun }, 119, /action create on class Tasks/);
    const creator = await byUser(tools, ['Sales'], ['mcp:view', 'mcp:create']);
    await creator.refused('Import-Records', { table: 'Tasks', rows }, 119, /Permission denied/);
    const clp = (await call('GET', '/platform/schemas/TaskStatuses')).body.classLevelPermissions;
    await permit(tools, 'TaskStatuses', { ...clp, find: {} });
    await seller.refused('Import-Records', { table: 'Tasks', rows }, 119, /action find on class TaskStatuses/);
    await permit(tools, 'TaskStatuses', clp);
  });
});
