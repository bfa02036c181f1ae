/**
 * Shared by the suites about forms (functions.md#forms): anonymous calls, as a web form makes them, phones that no other test uses, the flags in
 * `Config`, and errors that carry `error` only.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { assertClean, type Json, master, pointer, type Store, storeOf } from '../support/records.ts';
import { type Answer, anyEngine, type EngineName, sampledEngines } from '../support/service.ts';
import { useUnusedSystem } from '../systems/cli.ts';
import { useEcho } from './echo.ts';

/** How a form is sent: a JSON body, a body of `application/x-www-form-urlencoded`, or a GET with a query. */
export const ways = ['json', 'form', 'query'] as const;
export type Way = (typeof ways)[number];

/** Fields of a form. */
export type Fields = Record<string, unknown>;

export interface Linked {
  accountId: string;
  Id: string;
}

export interface Forms extends Store {
  /** Sends an anonymous call; no header names the system. */
  send(fn: string, fields?: Fields | string, way?: Way, headers?: Record<string, string>): Promise<Answer>;
  /** Calls `getlead`, which must succeed; returns the created record. */
  lead(fields: Fields, way?: Way): Promise<Json>;
  /** Calls `web2table`, `web2case` or `web2sale`, which must succeed. */
  link(fields: Fields, way?: Way, fn?: string): Promise<Linked>;
  /** Replaces all rows of `Config` with this name by one, or by none if the value is undefined. */
  setFlag(name: string, value?: unknown): Promise<void>;
  /** Switches all flags on. */
  openForms(): Promise<void>;
  /** Adds fields to an existing table. */
  addFields(table: string, fields: Json): Promise<void>;
  find(table: string, where: object): Promise<Json[]>;
  count(table: string): Promise<number>;
  /** Returns the objectId of a row of `LeadStatuses`. */
  status(key: 'new' | 'duplicate'): Promise<string>;
}

export const flags = {
  getlead: 'AcceptWebLeads',
  web2table: 'AcceptWebToTable',
  web2case: 'AcceptWebToCaseLeads',
  web2sale: 'AcceptWebToSaleLeads',
} as const;

/** `Value` of the flag of an open form: the name repeats as a key. */
export const on = (name: string, more: object = {}) => ({ [name]: true, ...more });

let phones = 0;

/** Returns the digits of a new phone; no other test has a phone that differs only in the last digit. */
function digits(area: string, length: number): string {
  phones += 10;
  return area + String(phones).padStart(length, '0');
}
/** Returns a new mobile phone: ten digits. */
export const newPhone = (): string => digits('05', 8);
/** Returns a new landline: nine digits. */
export const newLandline = (): string => digits('03', 7);

/** Texts of errors that carry `error` only (errors.md#errors-of-functions). */
export const disabled = (flag: string): string => `${flag} is Disabled`;
export const missingLead = 'missing "PhoneNumber" or "Email"';
export const missingPhone = 'missing "phone"';
export const missingTable = 'missing "table" in request body';

/** Asserts a business error: 400 with the text alone. */
export function assertError({ status, body, text }: Answer, error: string): void {
  assert.deepEqual([status, body], [400, { error }], text);
}

/** Asserts code 103: the table is missing, or closed to forms. */
export function assertNoTable(answer: Answer, name: string): void {
  assert.deepEqual([answer.status, answer.body], [400, { code: 103, error: `Class ${name} does not exist.` }], answer.text);
  assertClean(answer);
}

/** Form of an objectId. */
export const idForm = /^[0-9A-Za-z]{10}$/;

/** Asserts that a record was written by the service, with an empty ACL. */
export function assertByService({ createdBy, updatedBy, ACL, objectId }: Json): void {
  assert.deepEqual([createdBy, updatedBy, ACL], [master, master, {}]);
  assert.match(objectId, idForm);
}

export const statusPointer = (id: string) => pointer('LeadStatuses', id);

function encoded(fields: Fields): URLSearchParams {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value])
      pairs.append(Array.isArray(value) ? `${name}[]` : name, String(one));
  return pairs;
}

/** Converts a response of fetch. */
async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, headers: response.headers, text, body };
}

/** Returns form requests for a service, or for another system of it. */
export function formsOf(store: Store): Forms {
  const { service, call } = store;
  const found = (answer: Answer): Json => {
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const find: Forms['find'] = async (table, where) =>
    found(await call('GET', `/platform/classes/${table}`, { query: { where, limit: 10_000 } })).results;
  const send: Forms['send'] = async (fn, fields, way = 'json', headers = {}) => {
    const { url, appId } = service();
    const at = `${url}/functions/${appId}/${fn}`;
    if (way === 'query')
      return answerOf(await fetch(`${at}?${typeof fields === 'object' ? encoded(fields) : (fields ?? '')}`, { headers }));
    const type = way === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
    const text =
      typeof fields === 'object' ? (way === 'form' ? String(encoded(fields)) : JSON.stringify(fields)) : (fields ?? null);
    return answerOf(await fetch(at, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body: text }));
  };
  const setFlag: Forms['setFlag'] = async (name, value) => {
    for (const { objectId } of await find('Config', { Name: name })) found(await store.remove('Config', objectId));
    if (value !== undefined) await store.create('Config', { Name: name, Value: value });
  };
  return {
    ...store,
    send,
    find,
    setFlag,
    async lead(fields, way) {
      const answer = await send('getlead', fields, way);
      assert.deepEqual([answer.status, Object.keys(answer.body ?? {})], [200, ['result']], answer.text);
      const { success, leadId, ...more } = answer.body.result;
      assert.deepEqual([success, more], [true, {}], answer.text);
      assert.match(leadId, idForm);
      return store.read('Accounts', leadId);
    },
    async link(fields, way, fn = 'web2table') {
      const answer = await send(fn, fields, way);
      assert.equal(answer.status, 200, answer.text);
      const { success, accountId, Id, ...more } = answer.body;
      assert.deepEqual([success, more], [true, {}], answer.text);
      assert.match(accountId, idForm);
      assert.match(Id, idForm);
      return { accountId, Id };
    },
    async openForms() {
      for (const name of Object.values(flags)) await setFlag(name, on(name));
    },
    async addFields(table, fields) {
      found(await call('PUT', `/platform/schemas/${table}`, { body: { className: table, fields } }));
    },
    count: async (table) => found(await call('GET', `/platform/classes/${table}`, { query: { limit: 0, count: 1 } })).count,
    async status(key) {
      const [row] = await find('LeadStatuses', { SystemKey: key });
      return row.objectId;
    },
  };
}

/** Describes a suite on one engine (`sampledEngines`). Flags, and fields and permissions of `Accounts`, are restored after it. */
export const onEachEngine = (suite: (forms: Forms) => void): void => describeOn(sampledEngines(), suite);

/** The same for suites that do not depend on the engine. */
export const onAnyEngine = (suite: (forms: Forms) => void): void => describeOn(anyEngine, suite);

function describeOn(names: readonly EngineName[], suite: (forms: Forms) => void): void {
  for (const engine of names)
    describe(engine, () => {
      const forms = formsOf(storeOf(useEcho(engine).service));
      putBack(forms);
      suite(forms);
    });
}

/** The same with a system of the suite's own: for suites that drop or retype fields that others need. */
export function onOwnEngines(suite: (forms: Forms) => void): void {
  for (const engine of sampledEngines()) describe(engine, () => suite(formsOf(useUnusedSystem(engine))));
}

/** Restores flags, and fields and permissions of `Accounts`, after the surrounding suite. */
function putBack({ find, create, remove, addFields, call }: Forms): void {
  const schema = async () => (await call('GET', '/platform/schemas/Accounts')).body;
  let flagsThere: Json[] = [];
  let accounts: Json;
  before(async () => {
    flagsThere = await find('Config', {});
    accounts = await schema();
  });
  after(async () => {
    const own = ({ objectId, Name, Value }: Json) => ({ objectId, Name, Value });
    const isSame = (one: Json) => (other: Json) => JSON.stringify(own(one)) === JSON.stringify(own(other));
    const now = await find('Config', {});
    for (const row of now) if (!flagsThere.some(isSame(row))) await remove('Config', row.objectId);
    for (const row of flagsThere) if (!now.some(isSame(row))) await create('Config', own(row));
    const { fields, classLevelPermissions } = await schema();
    const added = Object.keys(fields).filter((name) => !(name in accounts.fields));
    await addFields('Accounts', Object.fromEntries(added.map((name) => [name, { __op: 'Delete' }])));
    if (JSON.stringify(classLevelPermissions) === JSON.stringify(accounts.classLevelPermissions)) return;
    const body = { classLevelPermissions: accounts.classLevelPermissions };
    assert.equal((await call('PUT', '/platform/schemas/Accounts', { body })).status, 200);
  });
}
