/**
 * Brings the customers of another system into a CRM system, and plans a call for those who have none. A second run changes nothing.
 *
 *     API_KEY=… node examples/client/sync.ts --url http://127.0.0.1:8080 --app APP_ID
 */
import { parseArgs } from 'node:util';
// In a project of your own: import { client } from 'record-service-client';
import { type Client, client, date, pointer, RecordServiceError } from '../../client/src/index.ts';
import type { AccountsCreate, Schema } from './schema.d.ts';

/** What the other system has. Its ids tell the customers apart. */
const customers: AccountsCreate[] = [
  { ExternalId: 'sync-1', Name: 'Dana Levi', PhoneNumber: '050-1112222', City: 'Haifa', IsAccount: true },
  { ExternalId: 'sync-2', Name: 'Avi Mizrahi', PhoneNumber: '052-3334444', City: 'Eilat', IsAccount: true },
  { ExternalId: 'sync-3', Name: 'נועה כהן', PhoneNumber: '054-5556666', City: 'Haifa', IsAccount: true },
];
const DAY_MS = 86_400_000;
const pointerTo = ({ objectId }: { objectId: string }) => pointer('Accounts', objectId);

const { values } = parseArgs({ options: { url: { type: 'string' }, app: { type: 'string' } } });
// biome-ignore lint/style/noProcessEnv: command lines are visible in process lists.
const apiKey = process.env.API_KEY;
if (!values.url || !values.app || !apiKey) {
  console.error('Usage: API_KEY=… node examples/client/sync.ts --url URL --app APP_ID');
  process.exit(2);
}

try {
  await sync(client<Schema>({ url: values.url, appId: values.app, apiKey }));
} catch (error) {
  if (!(error instanceof RecordServiceError)) throw error;
  console.error(`${error.message} (status ${error.status}, code ${error.code}, request ${error.requestId})`);
  process.exitCode = 1;
}

async function sync(crm: Client<Schema>): Promise<void> {
  // An upsert needs a unique index: two records can then never have one id of the other system.
  await crm.request('PUT', 'schemas/Accounts', { body: { uniqueIndexes: { byExternalId: { fields: ['ExternalId'] } } } });
  const outcomes = await crm.Accounts.upsert(['ExternalId'], customers);
  for (const [at, { error }] of outcomes.entries()) if (error) console.log(`${customers[at]?.Name}: ${error.message}`);
  const created = outcomes.filter((one) => !one.error && one.created).length;
  console.log(`customers: ${created} created, ${outcomes.length - created} there already`);

  const where = { ExternalId: { $in: customers.map(({ ExternalId }) => ExternalId ?? '') } };
  const { results: accounts } = await crm.Accounts.find({ where, keys: ['Name'], order: 'Name' });
  const { results: calls } = await crm.Tasks.find({
    where: { Name: 'Welcome call', AccountId: { $in: accounts.map(pointerTo) } },
  });
  const called = new Set(calls.map(({ AccountId }) => AccountId?.objectId));
  const missing = accounts.filter(({ objectId }) => !called.has(objectId));
  // One commit: all calls are planned, or none.
  await crm.transaction((items) =>
    missing.map((account) =>
      items.Tasks.create({ Name: 'Welcome call', AccountId: pointerTo(account), Date: date(Date.now() + DAY_MS) }),
    ),
  );
  console.log(`calls: ${missing.length} planned, ${calls.length} there already`);

  const cities = new Map<string, number>();
  for await (const { City = '' } of crm.Accounts.all({ where, keys: ['City'] })) cities.set(City, (cities.get(City) ?? 0) + 1);
  console.log(
    `cities: ${[...cities]
      .sort()
      .map(([city, count]) => `${city} ${count}`)
      .join(', ')}`,
  );

  const { results: open } = await crm.Tasks.find({
    where: { Name: 'Welcome call' },
    include: ['AccountId'],
    order: 'AccountId.Name',
    limit: 1,
  });
  console.log(`first call: ${open[0]?.AccountId?.Name}`);
  if (accounts[0]) await note(crm, accounts[0].objectId);
}

/** Adds a line to a comment that others may change at the same time. */
async function note(crm: Client<Schema>, objectId: string): Promise<void> {
  for (;;) {
    const account = await crm.Accounts.get(objectId);
    const line = 'Came from the other system.';
    if (account.Comment?.includes(line)) return;
    try {
      await crm.Accounts.update(objectId, { Comment: `${account.Comment ?? ''}${line}\n` }, { ifMatch: account });
      return console.log(`comment: added to ${account.Name}`);
    } catch (error) {
      // Somebody was faster: read what is there now.
      if (!(error instanceof RecordServiceError) || error.status !== 412) throw error;
    }
  }
}
