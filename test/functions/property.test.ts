/**
 * Property: whatever a form posts, the answer is 200 or a listed 400; system tables and schemas stay unchanged, and no internal value comes from
 * the form; a 200 has created its rows, a 400 none.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { settings } from '../property/settings.ts';
import { assertClean, type Json, master } from '../support/records.ts';
import type { Answer } from '../support/service.ts';
import { types } from './coercion-cases.ts';
import { body, encoded, nameOf } from './form-arbitraries.ts';
import { type Forms, flags, idForm, onAnyEngine } from './forms.ts';

const target = 'FormTarget';
/** Tables that `web2table` may write, and tables that it must not. */
const open = [target, 'Sales', 'Accounts', 'Tasks', 'Cases', 'LeadSource'];
const closed = [
  '_User',
  '_Role',
  '_Session',
  'Config',
  '_Dictionary',
  '_GeneralLogs',
  '_Notification',
  '_DynamicQueries',
  '_StoredFile',
];
const tables = [
  ...open,
  ...closed,
  '_Timeline',
  '_Trigger',
  '_RequestLog',
  '_syslogTriggers',
  'Nope',
  '__proto__',
  'constructor',
];
/** Tables whose contents are compared. Logs and `_Dictionary` grow, or are long. */
const watched = [
  'Config',
  '_User',
  '_Role',
  '_Session',
  '_GeneralLogs',
  '_Notification',
  '_DynamicQueries',
  '_syslogTriggers',
  'LeadStatuses',
];

const errors = [
  ...Object.values(flags).map((flag) => `${flag} is Disabled`),
  'missing "PhoneNumber" or "Email"',
  'missing "phone"',
];
const businessErrors = [...errors, 'missing "table" in request body'];

/** Texts of refusals by code (errors.md#codes). */
const coded = new Map<number, RegExp>([
  [111, /^schema mismatch for \w+\.\w+; expected .+ but got .+$|^This is not a valid \w+$/s],
  [103, /^Class .* does not exist\.$/s],
  [107, /./s],
  [105, /^Invalid field name: /],
  [121, /./s],
]);

function assertListed({ status, body, text }: Answer): void {
  assert.equal(status, 400, text);
  const { code, error, ...more } = body;
  assert.deepEqual(more, {}, text);
  if (code === undefined) assert.ok(businessErrors.includes(error), text);
  else if (code === 1) assert.equal(error, undefined, text);
  else assert.match(error, coded.get(code) ?? /^$/, text);
  assertClean({ text });
}

onAnyEngine((forms) => {
  let untouched = '';
  /** Numbers of records after the last form. */
  let known = new Map<string, number>();
  const started = Date.now() - 60_000;
  const tally = new Map<number, number>();

  before(async () => {
    await forms.openForms();
    const own = Object.keys(types).map((type) => [
      nameOf(type),
      { type, ...(/Pointer|Relation/.test(type) && { targetClass: 'LeadSource' }) },
    ]);
    await forms.addFields('Accounts', Object.fromEntries(own));
    await forms.table(
      { ...Object.fromEntries(own), Name: 'String', AccountId: { type: 'Pointer', targetClass: 'Accounts' } },
      target,
    );
    untouched = await system(forms);
    known = await counts();
  });

  const counts = async (): Promise<Map<string, number>> =>
    new Map(await Promise.all(open.map(async (table) => [table, await forms.count(table)] as const)));

  /** Asserts the fields of a record that no form sets. */
  function assertKept(record: Json): void {
    assert.deepEqual([record.createdBy, record.updatedBy, record.ACL], [master, master, {}]);
    assert.match(record.objectId, idForm);
    assert.ok(Date.parse(record.createdAt) > started);
  }

  async function assertLead({ result, ...more }: Json): Promise<string[]> {
    assert.deepEqual([more, result], [{}, { success: true, leadId: result.leadId }]);
    const record = await forms.read('Accounts', result.leadId);
    assertKept(record);
    assert.deepEqual([record.IsAccount, record.fromWeb2lead], [false, true]);
    return ['Accounts'];
  }

  /** Returns the tables that have a new row. */
  async function assertLinked({ success, accountId, Id, ...more }: Json, before: Map<string, number>): Promise<string[]> {
    assert.deepEqual([success, more], [true, {}]);
    const contact = await forms.read('Accounts', accountId);
    assertKept(contact);
    const after = await counts();
    const grown = open.filter((table) => table !== 'Accounts' && after.get(table) !== before.get(table));
    const table = grown[0] ?? 'Accounts';
    const row = await forms.read(table, Id);
    assertKept(row);
    if (table === 'Sales') assert.equal(row.SaleStatusId, undefined);
    if ('AccountId' in ((await forms.fields(table)) ?? {})) assert.equal(row.AccountId?.objectId, accountId);
    const isNew = (after.get('Accounts') ?? 0) - (before.get('Accounts') ?? 0) > (table === 'Accounts' ? 1 : 0);
    return isNew ? [table, 'Accounts'] : [table];
  }

  /** Sends a form and checks the answer and all effects. */
  async function look(fn: string, ask: () => Promise<Answer>): Promise<void> {
    const before = new Map(known);
    const answer = await ask();
    let made: string[] = [];
    if (answer.status !== 200) assertListed(answer);
    else made = fn === 'getlead' ? await assertLead(answer.body) : await assertLinked(answer.body, before);
    for (const table of made) before.set(table, (before.get(table) ?? 0) + 1);
    known = await counts();
    assert.deepEqual(known, before, `${answer.status} ${answer.text.slice(0, 300)}`);
    tally.set(answer.status, (tally.get(answer.status) ?? 0) + 1);
  }

  /** Asserts that the system is unchanged, and that enough forms were accepted and refused. */
  async function unharmed(): Promise<void> {
    assert.equal(await system(forms), untouched);
    for (const status of [200, 400]) assert.ok((tally.get(status) ?? 0) >= 10, `${status}: ${tally.get(status)}`);
    tally.clear();
  }

  const fn = fc.constantFrom('getlead', 'web2table', 'web2table', 'web2case', 'web2sale');

  test('Forms: any JSON body', { timeout: 180_000 }, async () => {
    const property = fc.asyncProperty(fn, body(tables), (name, text) => look(name, () => forms.send(name, text)));
    await fc.assert(property, settings(150));
    await unharmed();
  });

  test('Forms: any body or query of a form', { timeout: 180_000 }, async () => {
    const way = fc.constantFrom('form', 'query');
    const property = fc.asyncProperty(fn, way, encoded(tables), (name, by, text) => look(name, () => forms.send(name, text, by)));
    await fc.assert(property, settings(100));
    await unharmed();
  });
});

/** Returns schemas and system tables as text. */
async function system(forms: Forms): Promise<string> {
  const texts = [(await forms.call('GET', '/platform/schemas')).text, String(await forms.count('_Dictionary'))];
  for (const table of watched) texts.push(JSON.stringify(await forms.find(table, {})));
  return texts.join('\n');
}
