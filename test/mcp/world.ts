/** A system with a few records of each kind, for calls of every agent tool. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { date, type Json, pointer, type Store, unique } from '../support/records.ts';
import { signUp } from '../support/users.ts';

/** What the samples need of a system. All of it is created over REST with the master key. */
export interface World extends Store {
  /** objectIds of records that exist throughout. */
  readonly ids: {
    readonly account: string;
    readonly sale: string;
    readonly product: string;
    readonly quote: string;
    readonly conversation: string;
    readonly campaign: string;
    /** A note of the account, with a text file. */
    readonly note: string;
    /** A trigger of the table, switched off. */
    readonly trigger: string;
    readonly report: string;
    /** A user without roles. */
    readonly user: string;
  };
  /** A table created for the samples, with its timeline on, that Admin may use. */
  readonly tableName: string;
  /** The record of that table. */
  readonly row: string;
  /** Uploads a file that no record references yet. */
  upload(): Promise<{ name: string; url: string }>;
  /** Returns the matching rows, oldest first. */
  find(table: string, where: object): Promise<Json[]>;
}

/** Returns a new id for the site layer. */
export const newSiteId = (): string => randomBytes(12).toString('hex');

export async function makeWorld(store: Store): Promise<World> {
  const { create } = store;
  const account = await create('Accounts', { Name: 'Account', IsAccount: true, PhoneNumber: '052-7654321' });
  const AccountId = pointer('Accounts', account);
  const conversation = await create('Conversations', { Identity: '972527654321', AccountId });
  await create('ConversationMessages', { Message: 'Hello', ConversationId: pointer('Conversations', conversation) });
  const campaign = await create('Campaigns', { Name: 'Campaign' });
  await create('CampaignSentLog', { CampaignId: pointer('Campaigns', campaign), delivered: true });
  await create('Activities', { Name: 'Meeting', StartTime: date('2030-01-01T09:00:00.000Z'), AccountId });
  await create('Config', { Name: 'SampleFlag', Value: { SampleFlag: true } });
  const tableName = await store.table({ Name: 'String' }, unique('Own'));
  const timeline = { displayFields: {}, index: {} };
  const everything = ['find', 'get', 'create', 'update'].map((action) => [action, { 'role:Admin': true }] as const);
  const classLevelPermissions = Object.fromEntries(everything);
  const body = { timeline, classLevelPermissions };
  assert.equal((await store.call('PUT', `/platform/schemas/${tableName}`, { body })).status, 200);
  const upload = () => uploadText(store);
  return {
    ...store,
    tableName,
    row: await create(tableName, { Name: 'Row' }),
    ids: {
      account,
      conversation,
      campaign,
      sale: await create('Sales', { Name: 'Sale', Total: 100, AccountId }),
      product: await create('Products', { Name: 'Product', Price: 10 }),
      quote: await create('PriceQuotes', { Name: 'Quote', Total: 10, AccountId }),
      note: await create('Notes', { Comment: 'Note', AccountId, File: { __type: 'File', ...(await upload()) } }),
      trigger: await create('_Trigger', { Name: 'Sample', table: tableName, events: ['create'], actions: [], Active: false }),
      report: await create('_DynamicQueries', { Name: 'Report', table: 'Accounts', keys: ['Name'] }),
      user: (await signUp(store, { name: 'Somebody', job: 'none', mcpPermissions: [] })).id,
    },
    upload,
    find: async (table, where) => (await store.call('GET', `/platform/classes/${table}`, { query: { where } })).body.results,
  };
}

async function uploadText(store: Store): Promise<{ name: string; url: string }> {
  const headers = { 'Content-Type': 'text/plain' };
  const { body } = await store.call('POST', '/platform/files/sample.txt', { body: 'What it says', headers });
  return { name: body.name, url: body.url };
}
