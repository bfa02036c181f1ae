/** Code that has to compile, and the types that it has to get. Never runs. */
import { client, date, pointer, type RecordServiceError } from '../../../client/src/index.ts';
import type { Schema } from './schema.ts';

const crm = client<Schema>({ url: 'http://127.0.0.1:8080', appId: 'APP', apiKey: 'key' });

/** Compiles only if both types are the same. */
function same<A, B>(_: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never): void {}

export async function reads(): Promise<void> {
  const { results } = await crm.Accounts.find({
    where: { City: 'Haifa', Total: { $gt: 5 } },
    order: ['-Total', 'Name'],
    limit: 5,
  });
  same<(typeof results)[number]['OwnerId'], { __type: 'Pointer'; className: '_User'; objectId: string } | undefined>(true);
  const [account] = results;
  const text: string | undefined = account?.City;

  const owned = await crm.Accounts.find({ include: ['OwnerId', 'array_tags_Pointer_Tags.AccountId'], count: true });
  const count: number = owned.count;
  const username: string | undefined = owned.results[0]?.OwnerId?.username;
  const objectId: string | undefined = owned.results[0]?.OwnerId?.objectId;
  const tagged: string | undefined = owned.results[0]?.array_tags_Pointer_Tags?.[0]?.AccountId?.City;
  const all = await crm.Tasks.get('id', { include: ['*'] });
  const city: string | undefined = all.AccountId?.City;
  const deep = await crm.Tasks.get('id', { include: ['AccountId.OwnerId'] });
  const owner: string | undefined = deep.AccountId?.OwnerId?.username;

  const narrow = await crm.Accounts.get('id', { keys: ['Name', 'OwnerId.name'] });
  same<keyof typeof narrow, 'objectId' | 'createdAt' | 'updatedAt' | 'ACL' | 'Name' | 'OwnerId'>(true);
  const name: string | undefined = narrow.OwnerId?.name;

  for await (const task of crm.Tasks.all({ where: { Done: false }, include: ['AccountId'] })) {
    const of: string | undefined = task.AccountId?.Name;
    void of;
  }
  const odd: boolean | undefined = (await crm['Odd name'].get('id')).Done;
  const clash: boolean | undefined = (await crm.table('batch').get('id')).Done;
  const rows = await crm.Accounts.aggregate<{ objectId: string; total: number }>([{ $group: { _id: '$City' } }]);
  const total: number | undefined = rows[0]?.total;
  void [
    text,
    count,
    username,
    objectId,
    tagged,
    city,
    owner,
    name,
    odd,
    clash,
    total,
    await crm.Accounts.count({ City: 'Eilat' }),
  ];
}

export async function writes(): Promise<void> {
  const made = await crm.Accounts.create({ Name: 'Dana', Birthday: date('1990-01-31'), OwnerId: pointer('_User', 'id') });
  const account = await crm.Accounts.get(made.objectId, { keys: ['Name'] });
  await crm.Accounts.update(account.objectId, { City: null, Total: { __op: 'Increment', amount: 1 } }, { ifMatch: account });
  await crm.Accounts.update(account.objectId, { City: 'Haifa' }, { ifMatch: account.updatedAt });
  const updated = await crm.Accounts.update(account.objectId, { City: 'Haifa' }, { ifMatch: made });
  await crm.Accounts.delete(account.objectId, { ifMatch: updated });
  await crm.Accounts.updateWhere({ City: 'Haifa' }, { City: 'Eilat' }, { expect: 3 });
  const outcomes = await crm.batch((items) => [
    items.Tasks.create({ Name: 'Write' }),
    items.Accounts.update('id', { City: 'Haifa' }),
    items.table('batch').delete('id'),
  ]);
  const id: string | undefined = outcomes[0].success?.objectId;
  const total: number | undefined = outcomes[1].success?.Total;
  const error: RecordServiceError | undefined = outcomes[2].error;
  const [task] = await crm.transaction((items) => [items['Odd name'].create({ Name: 'Write' })]);
  const many = await crm.transaction((items) => ['a', 'b'].map((Name) => items.Tasks.create({ Name })));
  const ids: string[] = many.map(({ objectId }) => objectId);
  const user = await crm.users.logIn({ username: 'dana', password: 'Secret-1' });
  const name: string | undefined = user.name;
  await crm.as({ sessionToken: user.sessionToken }).users.current();
  void [id, total, error, task.objectId, ids, name];
}

/** Without types of the system every name and every field is taken. */
export async function untyped(): Promise<void> {
  const any = client({ url: 'http://127.0.0.1:8080', appId: 'APP' });
  const { results } = await any
    .table('Accounts')
    .find({ where: { Anything: { $gt: new Date() } }, include: ['OwnerId'], keys: ['A', 'B'] });
  const id: string | undefined = results[0]?.objectId;
  const value: number = results[0]?.A;
  const [first] = await any.batch((items) => [items.table('Tasks').create({ Name: 'Write' })]);
  void [id, value, first.success?.objectId, await any.Accounts?.count()];
}
