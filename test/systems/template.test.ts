/** The tables, labels, permissions and first rows of a new system. Reference: tables.md. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { find, type Get, type Row } from '../support/query.ts';
import { engines } from '../support/service.ts';
import { useUnusedSystem } from './cli.ts';
import { businessTables, fieldList, systemTables } from './template-fields.ts';

interface SchemaField {
  type: string;
  targetClass?: string;
  dictionary?: string;
}
interface SchemaRecord {
  className: string;
  fields: Record<string, SchemaField>;
  classLevelPermissions: Record<string, Record<string, unknown>>;
  timeline?: { displayFields: Row; index: Row };
}

const roles = ['Admin', 'Finance', 'Marketing', 'ReadOnly', 'Sales', 'Service'];
const withTimeline = [
  ...['Accounts', 'Activities', 'Cases', 'Contacts', 'Conversations', 'Emails', 'Notes', 'PriceQuotes', 'SMS', 'Sales', 'Tasks'],
];
const lookups = [
  ...['LeadSource', 'LeadStatuses', 'AccountStatuses', 'CityList', 'Languages', 'Interests', 'Tags', 'Courses', 'SaleStatuses'],
  ...['CaseStatuses', 'CasePriorities', 'CaseTypes', 'TaskStatuses', 'TaskTypes', 'ActivityTypes', 'ProductCategories'],
  ...['PriceQuoteStatuses', 'DocTypes', 'PaymentMethods', 'Currencies', 'Countries', 'ConversationStatuses', 'ChannelTypes'],
  ...['CampaignTypes', 'CampaignStatuses', 'UserStatuses', 'Industries', 'RelationTypes', 'LostReasons'],
];
const defaultFields = ['objectId', 'createdAt', 'updatedAt', 'ACL', 'createdBy', 'updatedBy'];

/** Tests of a new system that no other suite has used. */
function assertTemplate(get: Get): void {
  let listed: SchemaRecord[];
  const tables = new Map<string, SchemaRecord>();
  const table = (name: string): SchemaRecord => tables.get(name) ?? assert.fail(`there is no table ${name}`);
  before(async () => {
    const answer = await get().call('GET', '/platform/schemas', { query: { withDictionary: 'true' } });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    listed = answer.body.results;
    for (const each of listed) tables.set(each.className, each);
    tables.set('_AdminLog', (await get().call('GET', '/platform/schemas/_AdminLog', { query: { withDictionary: 'true' } })).body);
  });

  test('Schema record: a new system has 111 tables, and a log of administrators that the list leaves out', () => {
    assert.equal(listed.length, 111);
    assert.equal(new Set(listed.map(({ className }) => className)).size, 111);
    assert.deepEqual(
      [...tables.keys()].filter((name) => !listed.some(({ className }) => className === name)),
      ['_AdminLog'],
    );
  });
  test('Limits: class names differ by more than the case of their letters', () => {
    assert.equal(new Set(listed.map(({ className }) => className.toLowerCase())).size, 111);
  });
  test('Wire types: every Pointer and Relation has a target that is a table, and nothing else has one', () => {
    for (const { className, fields } of listed)
      for (const [name, { type, targetClass }] of Object.entries(fields)) {
        const pointing = type === 'Pointer' || type === 'Relation';
        assert.equal(targetClass !== undefined, pointing, `${className}.${name}`);
        if (targetClass !== undefined) assert.ok(tables.has(targetClass), `${className}.${name} > ${targetClass}`);
      }
  });
  test('Wire types: a multi-select field array_<purpose>_Pointer_<TargetTable> is an Array and names a table', () => {
    let seen = 0;
    for (const { className, fields } of listed)
      for (const [name, { type }] of Object.entries(fields)) {
        if (!name.startsWith('array_')) continue;
        const target = /^array_[A-Za-z0-9]+_Pointer_(\w+)$/.exec(name)?.[1];
        assert.ok(target !== undefined && tables.has(target), `${className}.${name}`);
        assert.equal(type, 'Array', `${className}.${name}`);
        seen++;
      }
    assert.ok(seen > 5);
  });
  test('Schema record: every field has a Hebrew label', () => {
    for (const { className, fields } of listed)
      for (const [name, { dictionary }] of Object.entries(fields))
        assert.match(dictionary ?? '', /[א-ת]/, `${className}.${name}`);
  });
  test('Fields on every record: in every table', () => {
    for (const { className, fields } of listed)
      assert.deepEqual(defaultFields.filter((name) => !(name in fields)), [], className); // biome-ignore format: one comparison
  });

  for (const [name, named] of Object.entries({ ...businessTables, ...systemTables }))
    test(`the fields that the reference names: ${name}`, () => {
      const { fields } = table(name);
      for (const [field, type, targetClass] of fieldList(named)) {
        assert.deepEqual([fields[field]?.type, fields[field]?.targetClass], [type, targetClass], `${name}.${field}`);
      }
    });
  for (const name of Object.keys(systemTables))
    test(`a table of the service has no other fields than the reference names: ${name}`, () => {
      const named = fieldList(systemTables[name] ?? '').map(([field]) => field);
      const indexColumns = name === '_Timeline' ? ['AccountId', 'ContactId', 'SaleId', 'CaseId'] : [];
      const own = Object.keys(table(name).fields).filter((field) => !defaultFields.includes(field));
      assert.deepEqual(own.filter((field) => !named.includes(field) && !indexColumns.includes(field)), []); // biome-ignore format: one comparison
    });
  for (const name of ['_syslogSMS', '_syslogCampaignSMS', '_syslogCampaignWA', '_syslogCampaignEmails'])
    test(`Other system tables: ${name} exists without fields`, () => {
      assert.deepEqual(Object.keys(table(name).fields).sort(), [...defaultFields].sort());
    });
  test('_User: phone, extension, job, active and isPortalUser are created on first write', () => {
    for (const name of ['phone', 'extension', 'job', 'active', 'isPortalUser']) assert.ok(!(name in table('_User').fields), name);
  });
  test('internal fields of users and sessions are in no schema', () => {
    assert.deepEqual(Object.keys(table('_User').fields).filter((name) => /^_(?!failed_login_count$)/.test(name)), []); // biome-ignore format: one comparison
    assert.ok(!('sessionToken' in table('_Session').fields));
  });

  test('Schema record: the timeline is on in 11 tables, and in no other', () => {
    const on = listed.filter(({ timeline }) => timeline !== undefined).map(({ className }) => className);
    assert.deepEqual(on.sort(), withTimeline.sort());
  });
  for (const name of withTimeline)
    test(`Events: timeline of ${name}: its fields are there, and index columns are Pointers that _Timeline has too`, () => {
      const { fields, timeline } = table(name);
      for (const field of Object.keys(timeline?.displayFields ?? {})) assert.ok(field in fields, field);
      assert.ok(Object.keys(timeline?.displayFields ?? {}).length > 0);
      const columns = Object.keys(timeline?.index ?? {});
      assert.equal(columns.includes('AccountId'), 'AccountId' in fields);
      for (const column of columns) {
        const { type, targetClass } = fields[column] ?? assert.fail(column);
        const { type: kept, targetClass: keptTarget } = table('_Timeline').fields[column] ?? assert.fail(column);
        assert.deepEqual([type, kept, keptTarget], ['Pointer', 'Pointer', targetClass]);
      }
    });

  for (const name of lookups)
    test(`Lookup tables: ${name} has rows, each with a Hebrew Name and an objectId of 10 characters`, async () => {
      const rows = await find(get(), name);
      assert.ok(rows.length >= 3, `${rows.length} rows`);
      assert.equal(new Set(rows.map(({ Name }) => Name)).size, rows.length);
      for (const { Name, objectId } of rows) {
        assert.match(String(Name), /[א-ת]/);
        assert.match(String(objectId), /^[A-Za-z0-9]{10}$/);
      }
    });
  test('States: the new-lead and the duplicate-lead status can be distinguished', async () => {
    for (const SystemKey of ['new', 'duplicate'])
      assert.equal((await find(get(), 'LeadStatuses', { where: { SystemKey } })).length, 1, SystemKey);
  });
  test('Limits: page, menu and site ids are 24 hexadecimal characters; a new system has one of each', async () => {
    const only = async (name: string): Promise<Row> => {
      const [row, ...others] = await find(get(), name);
      assert.ok(row && others.length === 0, name);
      assert.match(String(row.objectId), /^[0-9a-f]{24}$/, name);
      return row;
    };
    const { objectId, Name } = await only('Sites');
    assert.equal(Name, 'אתר ראשי');
    const site = { __type: 'Pointer', className: 'Sites', objectId };
    for (const name of ['SitePages', 'SiteMenus']) assert.deepEqual((await only(name)).SiteId, site, name);
  });

  test('Limits: so are the ids of those that are added', async () => {
    for (const name of ['Sites', 'SitePages', 'SiteMenus']) {
      const { status, body } = await get().call('POST', `/platform/classes/${name}`, { body: { Name: 'x' } });
      assert.equal(status, 201);
      assert.match(body.objectId, /^[0-9a-f]{24}$/);
    }
  });

  test('Permissions: the roles of a new system, without members', async () => {
    const rows = await find(get(), '_Role');
    assert.deepEqual(rows.map(({ name }) => name).sort(), roles);
  });
  test('Permissions: only these roles are named, never * or requiresAuthentication', () => {
    const named = new Set<string>();
    for (const { className, classLevelPermissions } of listed)
      for (const [action, entities] of Object.entries(classLevelPermissions)) {
        if (className === '_Notification' && (action === 'readUserFields' || 'pointerFields' in entities)) continue;
        assert.ok(['find', 'get', 'create', 'update', 'delete', 'addField'].includes(action), `${className} ${action}`);
        for (const entity of Object.keys(entities)) named.add(entity);
      }
    assert.deepEqual([...named].sort(), roles.map((role) => `role:${role}`)); // biome-ignore format: one comparison
  });
  const may = (name: string, action: string) =>
    Object.keys(table(name).classLevelPermissions[action] ?? {})
      .filter((entity) => entity !== 'pointerFields')
      .sort();
  const all = roles.map((role) => `role:${role}`);
  const writers: [table: string, writes: string[], reads: string[]][] = [
    ['Sales', ['role:Admin', 'role:Sales'], all],
    ['Cases', ['role:Admin', 'role:Service'], all],
    ['Campaigns', ['role:Admin', 'role:Marketing'], all],
    ['AccountingHeaders', ['role:Admin', 'role:Finance'], all],
    ['Accounts', all.filter((entity) => entity !== 'role:ReadOnly'), all],
    ['LeadStatuses', ['role:Admin'], all],
    ['_User', ['role:Admin'], all],
    ['_Role', ['role:Admin'], all],
    ['_Dictionary', ['role:Admin'], all],
    ['Config', ['role:Admin'], ['role:Admin']],
    ['_Trigger', ['role:Admin'], ['role:Admin']],
    ['_Timeline', [], all],
    ['_Notification', ['role:Admin'], ['role:Admin']],
    ['_syslogTriggers', [], ['role:Admin']],
    ['_GeneralLogs', [], ['role:Admin']],
    ['_RequestLog', [], []],
    ['_AdminLog', [], []],
    ['_Session', [], []],
  ];
  for (const [name, writes, reads] of writers)
    test(`Permissions of ${name}`, () => {
      for (const action of ['create', 'update', 'delete']) assert.deepEqual(may(name, action), writes, action);
      for (const action of ['find', 'get']) assert.deepEqual(may(name, action), reads, action);
    });
  test('Permissions of _Notification: the addressee reads, changes and deletes own rows', () => {
    const { readUserFields, update, delete: remove } = table('_Notification').classLevelPermissions;
    assert.deepEqual([readUserFields, update?.pointerFields, remove?.pointerFields], [['User'], ['User'], ['User']]);
  });
  test('Permissions: Admin adds fields to business tables, no role to those of the service', () => {
    for (const name of ['Accounts', 'Sales', 'LeadStatuses']) assert.deepEqual(may(name, 'addField'), ['role:Admin'], name);
    for (const name of [...Object.keys(systemTables), '_Trigger']) assert.deepEqual(may(name, 'addField'), [], name);
  });

  test('Config: AcceptWebLeads is there and on, Payment is there; the other flags are created by the operator', async () => {
    const rows = await find(get(), 'Config');
    assert.deepEqual(Object.fromEntries(rows.map(({ Name, Value }) => [Name, Value])), {
      AcceptWebLeads: { AcceptWebLeads: true },
      Payment: { Payment: {} },
    });
    assert.equal(rows.length, 2);
  });
  for (const name of ['Accounts', 'Sales', '_Timeline', '_syslogTriggers', '_Notification', '_User'])
    test(`a new system has no records of ${name}`, async () => {
      const rows = await find(get(), name, { where: { objectId: { $exists: true } } });
      assert.deepEqual(rows, []);
    });
  test('a record takes the fields of a new system: a lead with its statuses, and a multi-select', async () => {
    const [status] = await find(get(), 'LeadStatuses', { where: { SystemKey: 'new' } });
    const [language] = await find(get(), 'Languages');
    const point = (className: string, row?: Row) => ({ __type: 'Pointer', className, objectId: row?.objectId });
    const body = {
      Name: 'דנה כהן',
      IsAccount: false,
      LeadStatusId: point('LeadStatuses', status),
      array_languages_Pointer_Languages: [point('Languages', language)],
    };
    const made = await get().call('POST', '/platform/classes/Accounts', { body });
    assert.equal(made.status, 201, made.text);
    const query = { include: 'LeadStatusId,array_languages_Pointer_Languages' };
    const read = await get().call('GET', `/platform/classes/Accounts/${made.body.objectId}`, { query });
    assert.equal(read.body.LeadStatusId.Name, status?.Name);
    assert.equal(read.body.array_languages_Pointer_Languages[0].Name, language?.Name);
  });
}

for (const engine of engines) describe(engine, () => assertTemplate(useUnusedSystem(engine).service));
