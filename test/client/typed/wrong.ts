/** Code that must not compile: the compiler reports a directive below which there is no error. Never runs. */
import { client, pointer } from '../../../client/src/index.ts';
import type { Schema } from './schema.ts';

const crm = client<Schema>({ url: 'http://127.0.0.1:8080', appId: 'APP', apiKey: 'key' });

export async function reads(): Promise<void> {
  // @ts-expect-error no such table
  await crm.Acounts.find();
  // @ts-expect-error no such table
  await crm.table('Acounts').find();
  // @ts-expect-error no such field
  await crm.Accounts.find({ where: { Ctiy: 'Haifa' } });
  // @ts-expect-error another type than the field's
  await crm.Accounts.find({ where: { Total: 'Haifa' } });
  // @ts-expect-error no such operator
  await crm.Accounts.find({ where: { Total: { $greater: 1 } } });
  // @ts-expect-error a Pointer to another table
  await crm.Tasks.find({ where: { AccountId: pointer('Tasks', 'id') } });
  // @ts-expect-error no such option
  await crm.Accounts.find({ wher: { City: 'Haifa' }, limit: 1 });
  // @ts-expect-error no such field
  await crm.Accounts.find({ order: '-Ctiy' });
  // @ts-expect-error no such field
  await crm.Accounts.find({ keys: ['Ctiy'] });
  // @ts-expect-error no such field
  await crm.Accounts.get('id', { include: ['OwnerID'] });
  // @ts-expect-error pages go by objectId
  crm.Accounts.all({ order: 'Name' });
  const { results } = await crm.Accounts.find({ keys: ['Name'] });
  // @ts-expect-error not among the keys
  void results[0]?.City;
  // @ts-expect-error not counted
  void (await crm.Accounts.find()).count;
  const account = await crm.Accounts.get('id');
  // @ts-expect-error not included
  void account.OwnerId?.username;
}

export async function writes(): Promise<void> {
  // @ts-expect-error a required field is missing
  await crm.Accounts.create({ City: 'Haifa' });
  // @ts-expect-error no such field
  await crm.Accounts.create({ Name: 'Dana', Ctiy: 'Haifa' });
  // @ts-expect-error another type than the field's
  await crm.Accounts.update('id', { Total: '5' });
  // @ts-expect-error a required field cannot be cleared
  await crm.Accounts.update('id', { Name: null });
  // @ts-expect-error a number is no version
  await crm.Accounts.update('id', { City: 'Haifa' }, { ifMatch: 5 });
  // @ts-expect-error no such field
  await crm.Accounts.updateWhere({ City: 'Haifa' }, { Ctiy: 'Eilat' });
  // @ts-expect-error no such field
  await crm.batch((items) => [items.Tasks.create({ Nmae: 'Write' })]);
  // @ts-expect-error called like a member of the client, so only table() reaches it
  await crm.batch.find();
  // @ts-expect-error a login has a password
  await crm.users.logIn({ username: 'dana' });
}
