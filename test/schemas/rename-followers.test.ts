/** What names a renamed field follows in the same commit, and is listed. Reference: schemas.md#rename-a-field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, create, defineTable, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';
import { soon } from '../support/soon.ts';
import { signUp } from '../support/users.ts';
import { ended, imported, send } from '../transfer/import/import-jobs.ts';

const rename = (to: string) => ({ __op: 'Rename', to });
const update = { type: 'update-object' };

onEachEngine((get) => {
  const put = (table: string, body: unknown) => get().call('PUT', `/platform/schemas/${table}`, { body });
  const rename1 = async (table: string, from: string, to: string): Promise<Row> => {
    const answer = await put(table, { fields: { [from]: rename(to) } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.changed;
  };
  const row = async (table: string, id: string): Promise<Row> =>
    (await get().call('GET', `/platform/classes/${table}/${id}`)).body;

  test('triggers: criteria, changed fields, targets, names and templates of actions, of other tables too', async () => {
    const [table, other] = [tableName('T'), tableName('O')];
    await defineTable(get(), table, {
      Old: 'String',
      Ref: `Pointer:${table}`,
      Who: 'Pointer:_User',
      n: 'Number',
      Rel: `Relation:${table}`,
    });
    await defineTable(get(), other, { To: `Pointer:${table}`, copy: 'String' });
    const mine = await create(get(), '_Trigger', {
      Name: `mine ${table}`,
      table,
      events: ['create', 'update'],
      criteria: {
        $or: [{ Old: { $regex: '^x' } }, { 'Old.y': 1, Ref: { $inQuery: { className: table, where: { Old: 'x' } } } }],
        $nor: [{ $relatedTo: { object: pointer(table, 'abcdefghij'), key: 'Rel' } }],
        n: { $not: { $gt: 5 } },
        Who: { $select: { query: { className: table, where: { $and: [{ Old: 'z' }] } }, key: 'Old' } },
      },
      changedFields: ['Old', 'n'],
      actions: [
        {
          ...update,
          actionData: {
            target: 'self',
            fields: { n: 1, Old: '{{Old}} {{ Ref.Old }} {{{Old}}} {{ Old | x }} Old', 'Old.a': { Old: '{{Old}}' } },
          },
        },
        { ...update, actionData: { target: 'Ref', fields: { Old: 'b' } } },
        { type: 'create-object', actionData: { table: other, fields: { To: '{{objectId}}', copy: '{{Old}}', Old: '{{n}}' } } },
        { type: 'notification', actionData: { user: 'Who', content: 'Old {{Old}} {{Who.username}}' } },
        { type: 'e-mail', actionData: { to: '{{Old}}', subject: '{{Old}}', html: '<b>{{Old}}</b>' } },
      ],
    });
    const theirs = await create(get(), '_Trigger', {
      Name: `theirs ${table}`,
      table: other,
      events: ['create'],
      criteria: { To: { $inQuery: { className: table, where: { Old: 'x' } } } },
      actions: [{ ...update, actionData: { target: 'To', fields: { Old: '{{To.Old}}', n: 2 } } }],
    });
    const unconcerned = await create(get(), '_Trigger', {
      ...{ Name: `unconcerned ${table}`, table: other, events: ['create'], criteria: { copy: 'Old' } },
      actions: [{ ...update, actionData: { target: 'self', fields: { copy: '{{copy}} Old' } } }],
    });
    const before = await row('_Trigger', unconcerned);
    const actionsOf = (definition: Row) => (definition.actions as Row[]).map(({ actionData }) => actionData);
    assert.deepEqual(await rename1(table, 'Old', 'New'), { triggers: [`mine ${table}`, `theirs ${table}`] });
    assert.deepEqual(await rename1(table, 'Who', 'Whom'), { triggers: [`mine ${table}`] });
    assert.deepEqual(await rename1(table, 'Ref', 'Link'), { triggers: [`mine ${table}`] });
    assert.deepEqual(await rename1(table, 'Rel', 'Others'), { triggers: [`mine ${table}`] });
    assert.deepEqual(await rename1(other, 'To', 'Target'), { triggers: [`mine ${table}`, `theirs ${table}`] });
    const after = await row('_Trigger', mine);
    assert.deepEqual(after.criteria, {
      $or: [{ New: { $regex: '^x' } }, { 'New.y': 1, Link: { $inQuery: { className: table, where: { New: 'x' } } } }],
      $nor: [{ $relatedTo: { object: pointer(table, 'abcdefghij'), key: 'Others' } }],
      n: { $not: { $gt: 5 } },
      Whom: { $select: { query: { className: table, where: { $and: [{ New: 'z' }] } }, key: 'New' } },
    });
    assert.deepEqual(after.changedFields, ['New', 'n']);
    assert.deepEqual(actionsOf(after), [
      {
        target: 'self',
        fields: { n: 1, New: '{{New}} {{ Link.New }} {{{New}}} {{ Old | x }} Old', 'New.a': { Old: '{{New}}' } },
      },
      { target: 'Link', fields: { New: 'b' } },
      { table: other, fields: { Target: '{{objectId}}', copy: '{{New}}', Old: '{{n}}' } },
      { user: 'Whom', content: 'Old {{New}} {{Whom.username}}' },
      { to: '{{New}}', subject: '{{New}}', html: '<b>{{New}}</b>' },
    ]);
    const ofOther = await row('_Trigger', theirs);
    assert.deepEqual(ofOther.criteria, { Target: { $inQuery: { className: table, where: { New: 'x' } } } });
    assert.deepEqual(actionsOf(ofOther), [{ target: 'Target', fields: { New: '{{Target.New}}', n: 2 } }]);
    assert.deepEqual(await row('_Trigger', unconcerned), before);
    // A new definition is refused with the former name, wherever it stands.
    const define = (more: Row) =>
      get().call('POST', '/platform/classes/_Trigger', { body: { table, events: ['update'], actions: [], ...more } });
    const acts = (actionData: Row) => ({ actions: [{ ...update, actionData }] });
    for (const more of [
      { criteria: { Old: 'x' } },
      { changedFields: ['Old'] },
      acts({ target: 'self', fields: { Old: 'x' } }),
      acts({ target: 'self', fields: { n: '{{Old}}' } }),
      acts({ target: 'self', fields: { n: '{{Link.Old}}' } }),
      acts({ target: 'Link', fields: { Old: 1 } }),
    ])
      assertError(await define(more), 400, 105, 'Invalid field name: Old (renamed to New)');
    for (const more of [
      acts({ target: 'Ref', fields: {} }),
      { actions: [{ type: 'notification', actionData: { user: 'Who', content: '' } }] },
    ])
      assertError(await define(more), 400, 105, /^Invalid field name: \w+ \(renamed to \w+\)$/);
    for (const id of [mine, theirs, unconcerned]) await get().call('DELETE', `/platform/classes/_Trigger/${id}`);
  });

  test('triggers run after a rename as before it: once for each write that fires them', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Old: 'String', Seen: 'String', n: 'Number' });
    const id = await create(get(), '_Trigger', {
      ...{ Name: table, table, events: ['create', 'update'], criteria: { Old: { $regex: '^go' } }, changedFields: ['Old'] },
      actions: [{ ...update, actionData: { target: 'self', fields: { Seen: '{{Old}}' } } }],
    });
    const written: string[] = [];
    for (let n = 0; n < 20; n++) {
      written.push(await create(get(), table, n < 10 ? { Old: `go ${n}` } : { New: `go ${n}` }));
      if (n === 9) await rename1(table, 'Old', 'New');
    }
    await soon(async () => {
      // Two of them may have one `createdAt`.
      const rows = new Map((await find(get(), table, { keys: 'New,Seen' })).map((row) => [row.objectId, row]));
      assert.deepEqual(
        written.map((one) => [rows.get(one)?.New, rows.get(one)?.Seen]),
        written.map((_, n) => [`go ${n}`, `go ${n}`]),
      );
    }, 20_000);
    const log = await find(get(), '_syslogTriggers', { where: { triggerId: id, error: { $exists: true } } });
    assert.deepEqual(log, []);
    await get().call('DELETE', `/platform/classes/_Trigger/${id}`);
  });

  test('reports, views, labels and defaults of forms', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Old: 'String', n: 'Number', Ref: `Pointer:${table}` });
    const report = await create(get(), '_DynamicQueries', {
      ...{
        Name: `report ${table}`,
        table,
        keys: ['Old', 'n', 'Ref.Old'],
        where: { Old: 'x', $or: [{ n: 1 }] },
        order: '-Old,n, Ref.Old',
      },
      ...{ groupBy: ['Old'], View: { columns: [{ field: 'Old', width: 50 }, { field: 'n' }] } },
    });
    const labels = await Promise.all(
      [
        { tblName: table, field: 'New', value: 'left over' },
        { tblName: table, field: 'Old', value: 'שם' },
        { tblName: table, value: 'table' },
        { tblName: 'Nothing', field: 'Old', value: 'other' },
      ].map((label) => create(get(), '_Dictionary', label)),
    );
    assert.deepEqual(await rename1(table, 'Old', 'New'), { reports: [`report ${table}`], labels: 1 });
    const { keys, where, order, groupBy, View } = await row('_DynamicQueries', report);
    assert.deepEqual(
      [keys, where, order, groupBy, View],
      [
        ['New', 'n', 'Ref.New'],
        { New: 'x', $or: [{ n: 1 }] },
        '-New,n, Ref.New',
        ['New'],
        { columns: [{ field: 'New', width: 50 }, { field: 'n' }] },
      ],
    );
    const { fields } = (await get().call('GET', `/platform/schemas/${table}`, { query: { withDictionary: 'true' } })).body;
    assert.equal(fields.New.dictionary, 'שם');
    const kept = await find(get(), '_Dictionary', { where: { objectId: { $in: labels } }, order: 'createdAt' });
    assert.deepEqual(
      new Set(kept.map(({ tblName, field }) => `${tblName} ${field}`)),
      new Set([`${table} New`, `${table} undefined`, 'Nothing Old']),
    );

    assert.equal((await put('Accounts', { fields: { [table]: { type: 'String' } } })).status, 200);
    const [config] = await find(get(), 'Config', { where: { Name: 'AcceptWebLeads' } });
    const Value = {
      ...(config?.Value as Row),
      DefaultValues: { Account: { [table]: 'web', City: 'Haifa' }, Other: { [table]: 1 } },
    };
    const flag = `/platform/classes/Config/${config?.objectId}`;
    assert.equal((await get().call('PUT', flag, { body: { Value } })).status, 200);
    assert.deepEqual(await rename1('Accounts', table, `${table}New`), { config: ['AcceptWebLeads'] });
    assert.deepEqual(((await row('Config', config?.objectId as string)).Value as Row).DefaultValues, {
      Account: { [`${table}New`]: 'web', City: 'Haifa' },
      Other: { [table]: 1 },
    });
    await get().call('PUT', flag, { body: { Value: config?.Value } });
  });

  test('the timeline goes on: index columns are filled, the past is read by the present name, what is hidden stays hidden', async () => {
    const table = tableName('T');
    await defineTable(
      get(),
      table,
      { Secret: 'String', AccountId: 'Pointer:Accounts', k: 'String' },
      {
        timeline: {},
        classLevelPermissions: Object.fromEntries([
          ...['find', 'get', 'create', 'update'].map((action) => [action, { '*': true }]),
          ['protectedFields', { '*': ['Secret', 'AccountId'] }],
        ]),
      },
    );
    const account = await create(get(), 'Accounts', { Name: 'a' });
    const id = await create(get(), table, { Secret: 'one', AccountId: pointer('Accounts', account), k: 'x' });
    const user = await signUp({ call: (...args) => get().call(...args) });
    const rules = (await get().call('GET', '/platform/schemas/_Timeline')).body.classLevelPermissions;
    await put('_Timeline', {
      classLevelPermissions: { ...rules, find: { ...rules.find, [user.id]: true }, get: { ...rules.get, [user.id]: true } },
    });
    await rename1(table, 'Secret', 'Hidden');
    await rename1(table, 'AccountId', 'CustomerId');
    await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { Hidden: 'two', k: 'y' } });
    const where = { objectIdValue: id };
    const rows = await find(get(), '_Timeline', { where, order: 'createdAt' });
    assert.deepEqual(
      rows.map(({ data, AccountId }) => [data, (AccountId as Row | undefined)?.objectId]),
      [
        [{ Secret: 'one', AccountId: pointer('Accounts', account), k: 'x' }, account],
        [{ Hidden: 'two', k: 'y' }, account],
      ],
    );
    const seen = async () => {
      const answer = await get().call('GET', '/platform/classes/_Timeline', {
        session: user.token,
        query: { where, order: 'createdAt' },
      });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.results.map(({ data, AccountId }: Row) => [data, AccountId]);
    };
    const shown = [
      [{ k: 'x' }, undefined],
      [{ k: 'y' }, undefined],
    ];
    assert.deepEqual(await seen(), shown);
    // Also when the name is used again, and when the field goes.
    await put(table, { fields: { Secret: { type: 'Number' } } });
    assert.deepEqual(await seen(), shown);
    await put(table, { fields: { Hidden: { __op: 'Delete' } } });
    assert.deepEqual(await seen(), shown);
    await put('_Timeline', { classLevelPermissions: rules });
  });

  test('an import with the former name is refused before its first row, with new fields too', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Old: 'String', n: 'Number' });
    await rename1(table, 'Old', 'New');
    for (const newFields of ['false', 'true']) {
      const { status, body } = await send(get(), table, 'Old,n\nx,1\n', { query: { newFields } });
      const job = status === 202 ? await ended(get(), body.job) : body;
      assert.match(
        JSON.stringify(job),
        /has no field ..Old.. \(perhaps New, its name now\)/,
        `${status} ${JSON.stringify(body)}`,
      );
    }
    assert.deepEqual(await find(get(), table), []);
    assert.equal((await imported(get(), table, 'New,n\nx,1\n')).created, 1);
  });

  test('a caller from whom the field is hidden does not learn its name', async () => {
    const table = tableName('T');
    const classLevelPermissions = {
      ...Object.fromEntries(['find', 'get', 'create', 'update', 'addField'].map((action) => [action, { '*': true }])),
      protectedFields: { '*': ['Old'] },
    };
    await defineTable(get(), table, { Old: 'String' }, { classLevelPermissions });
    const user = await signUp({ call: (...args) => get().call(...args) });
    await rename1(table, 'Old', 'New');
    const as = { session: user.token };
    for (const answer of [
      await get().call('GET', `/platform/classes/${table}`, { ...as, query: { where: { Old: 1 } } }),
      await get().call('GET', `/platform/classes/${table}`, { ...as, query: { order: 'Old' } }),
      await get().call('GET', `/platform/classes/${table}`, { ...as, query: { excludeKeys: 'Old' } }),
      await get().call('POST', `/platform/classes/${table}`, { ...as, body: { Old: 1 } }),
    ])
      assertError(answer, 400, 105, 'Invalid field name: Old');
  });
});
