/** Fields with a former name keep their values, and what names them follows. Reference: schema-as-code.md#renamed-fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, createEach, find, onEachEngine } from '../../support/query.ts';
import { applied, apply, assertFails, changesOf, edit, exported, filesIn, fillSchema, type Json, newSystem } from './schemas.ts';

/** Gives a field of a file another name. */
const renamed = (file: Json, from: string, to: string) => {
  file.fields[to] = { ...file.fields[from], was: from };
  delete file.fields[from];
};

/** Replaces a name in all other places of the files, as someone does who edits them. */
const replaced = (part: Json, from: string, to: string): Json =>
  JSON.parse(JSON.stringify(part).replaceAll(new RegExp(`(?<=["{])${from}(?=["}])`, 'g'), to));

onEachEngine((get) => {
  test('Apply: a field with a former name keeps its values; one change is shown', async () => {
    const system = await newSystem(get());
    await fillSchema(system);
    await createEach(system, 'Visits', [{ Name: 'a', Minutes: 1 }, { Name: 'b' }]);
    const directory = await exported(system);
    await edit(directory, 'tables/Visits.json', (visits) => {
      renamed(visits, 'Name', 'Title');
      visits.indexes.byName = { Title: 1 };
      visits.textIndex = ['Notes', 'Title'];
      visits.timeline.displayFields = { Title: true, At: true };
    });
    for (const part of ['triggers', 'reports'])
      await edit(directory, `${part}.json`, (rows) =>
        rows.map((row: Json) => {
          if (row.table === 'Visits') return replaced(row, 'Name', 'Title');
          row.actions[0].actionData.fields = { Title: '{{Name}}', Done: false };
          return row;
        }),
      );
    // Names in other records than those of the table are no names of fields.
    await edit(directory, 'reports.json', (rows) => rows.map(({ Title, ...row }: Json) => ({ Name: Title, ...row })));
    assert.deepEqual(await changesOf(system, directory), ['> Visits: Name → Title', '1 change, 0 destructive']);
    await applied(system, directory);
    assert.deepEqual(await changesOf(system, directory), []);
    assert.deepEqual(
      (await find(system, 'Visits', { order: 'Title' })).map(({ Title, Minutes }) => [Title, Minutes]),
      [
        ['a', 1],
        ['b', undefined],
      ],
    );
    const [trigger] = await find(system, '_Trigger');
    assert.deepEqual((trigger as Json).actions[0].actionData.fields, { Title: '{{Name}}', Done: false });
    const [label] = await find(system, '_Dictionary', { where: { tblName: 'Visits', field: 'Title' } });
    assert.equal(label?.value, 'שם הביקור');
    const wanted = await filesIn(directory);
    const { 'tables/Visits.json': visits, ...others } = await filesIn(await exported(system));
    const { fields } = JSON.parse(wanted['tables/Visits.json'] as string);
    delete fields.Title.was;
    assert.deepEqual(JSON.parse(visits as string).fields, fields);
    for (const part of ['triggers.json', 'reports.json', 'labels.json', 'permissions.json'])
      assert.deepEqual(JSON.parse(others[part] as string), JSON.parse(wanted[part] as string), part);
  });

  test('Apply: parts that are not in the snapshot follow too; what differs beyond the name is shown', async () => {
    const system = await newSystem(get());
    await fillSchema(system);
    const directory = await exported(system, '--parts', 'tables,triggers');
    await edit(directory, 'tables/Accounts.json', (accounts) => {
      renamed(accounts, 'Score', 'Points');
      accounts.indexes.byScore = { Points: 1 };
      accounts.fields.Points.dictionary = 'ניקוד';
    });
    await edit(directory, 'triggers.json', ([trigger]) => [
      { ...replaced(trigger, 'Score', 'Points'), events: ['create'], criteria: { Points: { $gt: 9 } } },
    ]);
    assert.deepEqual(await changesOf(system, directory), [
      '> Accounts: Score → Points',
      '~ trigger Visit new leads (Accounts): events, criteria',
      '~ Accounts: labels of Points',
      '3 changes, 0 destructive',
    ]);
    const [before] = await find(system, '_Trigger');
    await applied(system, directory);
    assert.deepEqual(await changesOf(system, directory), []);
    const [after] = (await find(system, '_Trigger')) as Json[];
    assert.deepEqual([after.objectId, after.changedFields], [before?.objectId, ['Points']]);
    assert.deepEqual(after.actions, (before as Json).actions);
    assert.deepEqual((await find(system, 'Accounts', { where: { Points: { $gt: 0 } } })).length, 0);
  });

  test('Diff: a former name that is not there adds the field, with a note; two claims to one are refused', async () => {
    const system = await newSystem(get());
    const directory = await exported(system, '--parts', 'tables');
    await edit(directory, 'tables/Sales.json', ({ fields }) => {
      fields.Points = { type: 'Number', was: 'Score' };
    });
    assert.deepEqual(await changesOf(system, directory), [
      '+ Sales.Points Number',
      'note: Sales.Points: its former name Score is not there, so the field is added',
      '1 change, 0 destructive',
    ]);
    await edit(directory, 'tables/Sales.json', ({ fields }) => {
      fields.Points.was = 'Name';
    });
    await assertFails(
      apply(system, directory),
      /^record-service: tables\/Sales\.json: fields\.Points\.was names Name, which is a field here too/,
    );
    await edit(directory, 'tables/Sales.json', ({ fields }) => {
      delete fields.Name;
      fields.Other = { type: 'String', was: 'Name' };
    });
    await assertFails(apply(system, directory), /fields\.Points\.was names Name, as another field does/);
    await edit(directory, 'tables/_User.json', ({ fields }) => {
      fields.login = { ...fields.username, was: 'username' };
      delete fields.username;
    });
    await edit(directory, 'tables/Sales.json', ({ fields }) => {
      delete fields.Other;
      delete fields.Points.was;
      fields.Name = { type: 'String' };
    });
    await assertFails(apply(system, directory), /_User: field username cannot be changed/);
  });

  test('Apply: a field that gets another type keeps its values converted; one that cannot be converted refuses all', async () => {
    const system = await newSystem(get());
    await fillSchema(system);
    await createEach(system, 'Visits', [{ Name: '12', Minutes: 5 }, { Name: '7' }]);
    const directory = await exported(system);
    await edit(directory, 'tables/Visits.json', (visits) => {
      visits.fields.Minutes.type = 'String';
      visits.fields.Number = { ...visits.fields.Name, type: 'Number', was: 'Name' };
      delete visits.fields.Name;
      visits.indexes.byName = { Number: -1 };
      visits.textIndex = ['Notes'];
      visits.timeline.displayFields = { Number: true, At: true };
    });
    await edit(directory, 'triggers.json', (rows) => {
      rows[0].actionData = undefined;
      rows[0].actions[0].actionData.fields = { Number: '{{Score}}', Done: false };
      return rows;
    });
    await edit(directory, 'reports.json', ([report]) => [{ ...report, keys: ['Number', 'At'] }]);
    assert.deepEqual(
      (await changesOf(system, directory)).map((line) => line.replace(/ +DESTRUCTIVE$/, '')),
      [
        '> Visits: Name → Number',
        '~ Visits: index byName',
        '~ Visits: text index Notes',
        '! Visits.Minutes: Number → String, 1 record has a value',
        '! Visits.Number: String → Number, 2 records have a value',
        '~ trigger Visit new leads (Accounts): actions',
        '6 changes, 2 destructive',
      ],
    );
    await assertFails(apply(system, directory), /nothing was done: 2 destructive changes not allowed/);
    const before = await filesIn(await exported(system));
    const bad = await create(system, 'Visits', { Name: 'many' });
    await assertFails(apply(system, directory, '--allow-destructive'), /Visits/);
    assert.deepEqual(await filesIn(await exported(system)), before);
    assert.equal((await system.call('DELETE', `/platform/classes/Visits/${bad}`)).status, 200);
    await applied(system, directory, '--allow-destructive');
    assert.deepEqual(await changesOf(system, directory), []);
    assert.deepEqual(
      (await find(system, 'Visits', { order: 'Number' })).map(({ Number: number, Minutes }) => [number, Minutes]),
      [
        [7, undefined],
        [12, '5'],
      ],
    );
    await edit(directory, 'tables/Visits.json', ({ fields }) => {
      fields.Photo.type = 'Date';
    });
    await assertFails(apply(system, directory, '--allow-destructive'), /Visits: .*Photo/);
  });
});
